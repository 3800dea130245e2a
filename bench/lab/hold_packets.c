/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency for a lab whose kernel has no netem: hold_packets MICROSECONDS PID...
 *
 * In the network of each process PID a rule of iptables puts the data network's packets, as they
 * come in, into queue 0 of NFQUEUE. The kernel holds them until this program says that they may
 * pass: MICROSECONDS after they came, in their order. The packets themselves stay in the kernel;
 * large ones are not split. It prints "ready" when all queues exist, and runs until it is killed.
 * Without it the kernel drops the packets: a lab ends with it.
 *
 * It wakes when the next packet is due, and then takes note of all that have come since: each of
 * those is due later. Only if none is held does it wait for one. The kernel says when a packet came
 * (it does so for all while some socket wants time stamps), so that being late here delays nothing.
 * Waking takes time, too, mostly the same: the program sets out that much earlier.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    QUEUE = 0,              /* its number, the same in all networks */
    PACKETS_MOST = 1 << 16, /* held of one network; the shapers let through fewer */
    ROOM = 16 << 20,        /* bytes of the kernel's notes that wait for being read */
    NOTES = 64,             /* read at once */
    NOTE_SIZE = 512,        /* bytes; of the packet itself there is nothing in it */
    NETWORKS_MOST = 64,
    LEAD_MOST_NS = 100 * 1000, /* a machine that is busier than that is too late */
    LONGEST_US = 1000 * 1000
};

struct held {
    int64_t due; /* nanoseconds */
    uint32_t id;
};

/* A network's queue: a ring of held packets, in the order in which they came. */
struct queue {
    int socket;
    struct held *ring; /* [PACKETS_MOST] */
    uint32_t first, end;
};

static struct queue queues[NETWORKS_MOST];
static struct pollfd sockets[NETWORKS_MOST];
static int networks;
static int64_t delay; /* nanoseconds */
static int64_t lead;  /* nanoseconds: how late waking is, in a moving mean */

static void die(const char *what, const char *why)
{
    fprintf(stderr, "hold_packets: %s: %s\n", what, why);
    exit(1);
}

static int64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* ---- Netlink ---- */

struct message {
    struct nlmsghdr header;
    struct nfgenmsg general;
    char attributes[64];
};

static struct message begin(int type, int flags)
{
    return (struct message){
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct nfgenmsg)),
                   .nlmsg_type = (uint16_t)(NFNL_SUBSYS_QUEUE << 8 | type),
                   .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)},
        .general = {.version = NFNETLINK_V0, .res_id = htons(QUEUE)},
    };
}

static void append(struct message *message, int type, const void *value, size_t size)
{
    struct nlattr attribute = {(uint16_t)(NLA_HDRLEN + size), (uint16_t)type};
    char *end = (char *)message + message->header.nlmsg_len;
    memcpy(end, &attribute, sizeof attribute);
    memcpy(end + NLA_HDRLEN, value, size);
    message->header.nlmsg_len += (uint32_t)NLA_ALIGN(NLA_HDRLEN + size);
}

static void send_message(int socket, const struct message *message)
{
    if (send(socket, message, message->header.nlmsg_len, 0) < 0)
        die("a message to the kernel", strerror(errno));
}

/* Send a message of configuration, and wait for the answer. */
static void configure(int socket, const struct message *message, const char *what)
{
    char answer[NOTE_SIZE];
    const struct nlmsghdr *header = (const void *)answer;
    send_message(socket, message);
    ssize_t size = recv(socket, answer, sizeof answer, 0);
    if (size < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) || header->nlmsg_type != NLMSG_ERROR)
        die(what, "no answer from the kernel");
    const struct nlmsgerr *error = NLMSG_DATA(header);
    if (error->error)
        die(what, strerror(-error->error));
}

/* ---- Queues ---- */

static void enter_network(const char *pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || setns(file, CLONE_NEWNET) != 0)
        die(path, strerror(errno));
    close(file);
}

static int open_socket(void)
{
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    const int room = ROOM;
    int made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    if (made < 0 || connect(made, (const struct sockaddr *)&kernel, sizeof kernel) != 0)
        die("netlink", strerror(errno));
    if (setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0 &&
        setsockopt(made, SOL_SOCKET, SO_RCVBUF, &room, sizeof room) != 0)
        die("room for the kernel's notes", strerror(errno));
    return made;
}

/* The queue of the current network. */
static void open_queue(struct queue *queue)
{
    const struct nfqnl_msg_config_cmd bind = {.command = NFQNL_CFG_CMD_BIND, .pf = htons(AF_INET)};
    const struct nfqnl_msg_config_params copy = {.copy_mode = NFQNL_COPY_META};
    const uint32_t most = htonl(PACKETS_MOST), whole = htonl(NFQA_CFG_F_GSO);
    queue->socket = open_socket();
    queue->ring = malloc(PACKETS_MOST * sizeof *queue->ring);
    if (!queue->ring)
        die("the queues", "out of memory");
    struct message message = begin(NFQNL_MSG_CONFIG, NLM_F_ACK);
    append(&message, NFQA_CFG_CMD, &bind, sizeof bind);
    configure(queue->socket, &message, "NFQUEUE");
    message = begin(NFQNL_MSG_CONFIG, NLM_F_ACK);
    append(&message, NFQA_CFG_PARAMS, &copy, sizeof copy);
    append(&message, NFQA_CFG_QUEUE_MAXLEN, &most, sizeof most);
    append(&message, NFQA_CFG_FLAGS, &whole, sizeof whole);
    append(&message, NFQA_CFG_MASK, &whole, sizeof whole);
    configure(queue->socket, &message, "NFQUEUE's parameters");
}

/* While one socket of the machine wants time stamps, the kernel stamps all packets that come in. */
static void ask_for_stamps(void)
{
    const int yes = 1;
    int stamped = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* open until the end */
    if (stamped < 0 || setsockopt(stamped, SOL_SOCKET, SO_TIMESTAMP, &yes, sizeof yes) != 0)
        die("time stamps", strerror(errno));
}

/* ---- Packets ---- */

/* A packet has come. @param wall, clock  now, by the clock of the stamps and by ours */
static void take_note(struct queue *queue, const struct nlmsghdr *header, int64_t wall,
                      int64_t clock)
{
    const char *at = (const char *)header + NLMSG_LENGTH(sizeof(struct nfgenmsg));
    const char *end = (const char *)header + header->nlmsg_len;
    const struct nlattr *attribute;
    struct held *held = &queue->ring[queue->end % PACKETS_MOST];
    int64_t age = 0;
    if (queue->end - queue->first == PACKETS_MOST)
        die("a queue", "is full");
    for (; end - at >= NLA_HDRLEN; at += NLA_ALIGN(attribute->nla_len)) {
        attribute = (const void *)at;
        if (attribute->nla_len < NLA_HDRLEN)
            break;
        if ((attribute->nla_type & NLA_TYPE_MASK) == NFQA_PACKET_HDR) {
            struct nfqnl_msg_packet_hdr packet;
            memcpy(&packet, at + NLA_HDRLEN, sizeof packet);
            held->id = ntohl(packet.packet_id);
        } else if ((attribute->nla_type & NLA_TYPE_MASK) == NFQA_TIMESTAMP) {
            struct nfqnl_msg_packet_timestamp stamp;
            memcpy(&stamp, at + NLA_HDRLEN, sizeof stamp);
            age = wall - (int64_t)be64toh(stamp.sec) * 1000000000 -
                  (int64_t)be64toh(stamp.usec) * 1000;
        }
    }
    if (age < 0 || age > delay) /* the clock was set, or we are too late */
        age = age < 0 ? 0 : delay;
    held->due = clock - age + delay;
    queue->end++;
}

/* Note all packets that have come to a network. */
static void drain(struct queue *queue)
{
    static char notes[NOTES][NOTE_SIZE];
    struct iovec places[NOTES];
    struct mmsghdr heads[NOTES];
    memset(heads, 0, sizeof heads);
    for (int i = 0; i < NOTES; i++) {
        places[i] = (struct iovec){notes[i], NOTE_SIZE};
        heads[i].msg_hdr.msg_iov = &places[i];
        heads[i].msg_hdr.msg_iovlen = 1;
    }
    int got;
    do {
        got = recvmmsg(queue->socket, heads, NOTES, MSG_DONTWAIT, NULL);
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            die("the kernel's notes", strerror(errno));
        const int64_t wall = now(CLOCK_REALTIME), clock = now(CLOCK_MONOTONIC);
        for (int i = 0; i < got; i++) {
            const struct nlmsghdr *header = (const void *)notes[i];
            if (NLMSG_OK(header, heads[i].msg_len) &&
                header->nlmsg_type == (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
                take_note(queue, header, wall, clock);
        }
    } while (got == NOTES);
}

/* Let all packets pass that are due. @return when the next one is; INT64_MAX: none is held */
static int64_t release(struct queue *queue)
{
    const int64_t clock = now(CLOCK_MONOTONIC) + lead;
    struct nfqnl_msg_verdict_hdr verdict = {htonl(NF_ACCEPT), 0};
    bool some = false;
    for (; queue->first != queue->end; queue->first++) {
        const struct held *held = &queue->ring[queue->first % PACKETS_MOST];
        if (held->due > clock)
            break;
        verdict.id = htonl(held->id);
        some = true;
    }
    if (some) { /* for all with an id up to this one */
        struct message message = begin(NFQNL_MSG_VERDICT_BATCH, 0);
        append(&message, NFQA_VERDICT_HDR, &verdict, sizeof verdict);
        send_message(queue->socket, &message);
    }
    return queue->first == queue->end ? INT64_MAX : queue->ring[queue->first % PACKETS_MOST].due;
}

/* Sleep until shortly before that, and see how late that is. */
static void wait_until(int64_t due)
{
    const int64_t most = delay / 4 < LEAD_MOST_NS ? delay / 4 : LEAD_MOST_NS;
    const int64_t until = due - lead;
    struct timespec time = {until / 1000000000, until % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    int64_t late = now(CLOCK_MONOTONIC) - until;
    late = late < 0 ? 0 : late;
    lead += ((late < most ? late : most) - lead) / 16;
}

static void wait_for_packets(void)
{
    if (poll(sockets, (nfds_t)networks, -1) < 0 && errno != EINTR)
        die("poll", strerror(errno));
}

static void hold(void)
{
    for (;;) {
        int64_t next = INT64_MAX;
        if (poll(sockets, (nfds_t)networks, 0) < 0 && errno != EINTR)
            die("poll", strerror(errno));
        for (int i = 0; i < networks; i++) {
            if (sockets[i].revents)
                drain(&queues[i]);
            int64_t due = release(&queues[i]);
            next = due < next ? due : next;
        }
        if (next == INT64_MAX)
            wait_for_packets();
        else if (next > now(CLOCK_MONOTONIC) + lead)
            wait_until(next);
    }
}

int main(int argc, char **argv)
{
    char *end = NULL;
    long us = argc > 1 ? strtol(argv[1], &end, 10) : 0;
    if (argc < 3 || argc - 2 > NETWORKS_MOST || *end != '\0' || us < 1 || us > LONGEST_US)
        die("usage", "hold_packets MICROSECONDS PID... (1 to 1000000; up to 64 processes)");
    delay = us * 1000;
    for (networks = 0; networks < argc - 2; networks++) {
        enter_network(argv[2 + networks]);
        open_queue(&queues[networks]);
        sockets[networks] = (struct pollfd){queues[networks].socket, POLLIN, 0};
    }
    ask_for_stamps();
    /* Wake up in time, also where ranks compete for the processors; not everybody may have it. */
    (void)sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 10});
    (void)prctl(PR_SET_TIMERSLACK, 1);
    if (puts("ready") < 0 || fflush(stdout) != 0)
        die("standard output", strerror(errno));
    hold();
}
