/* SPDX-License-Identifier: BSD-3-Clause */
/* What warnings say. Each text has two %s: what cannot be used, and why, unless it says otherwise.
 */
#ifndef COLL_STRAG_TEXTS_H
#define COLL_STRAG_TEXTS_H

extern const char coll_strag_text_bad_parameters[];
extern const char coll_strag_text_bad_info_keys[];
extern const char coll_strag_text_different_parameters[];
extern const char coll_strag_text_not_everywhere[];
extern const char coll_strag_text_no_layout[];
extern const char coll_strag_text_no_rules[];
extern const char coll_strag_text_no_model[];
extern const char coll_strag_text_no_plan[];
extern const char coll_strag_text_not_saved[];
extern const char coll_strag_text_not_written[];
extern const char coll_strag_text_cannot_be_planned[];
extern const char coll_strag_text_no_ucp[];
extern const char coll_strag_text_lost[];
extern const char coll_strag_text_not_shared[];
extern const char coll_strag_text_device_buffers[];
extern const char coll_strag_text_no_kernels[];
extern const char coll_strag_text_no_plugin[];
extern const char coll_strag_text_different_calls[]; /* one */
extern const char coll_strag_text_failed_rank[];     /* one */
extern const char coll_strag_text_stuck[];           /* one */
extern const char coll_strag_text_awaited[];         /* one */
extern const char coll_strag_text_wrong_version[];
extern const char coll_strag_text_no_companions[]; /* one */

#endif
