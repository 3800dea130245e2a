/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-in for a header that Open MPI's -dev packages leave out, although ompi/op/op.h includes it.
 * Of its macros, installed headers use only this one.
 */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#include "ompi_config.h"

#define OMPI_INT_2_FINT(value) ((MPI_Fint)(value))

#endif
