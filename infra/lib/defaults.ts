import { Duration } from 'aws-cdk-lib/core';

/** The path of the URL, `/mqtt`, which clients expect of MQTT over WebSocket. */
export const STAGE_NAME = 'mqtt';

/**
 * A client gives a frame up after 8 s, and a publish of unknown fate is held for 5 s after the next CONNACK: no
 * handler may live longer than that, or it would interleave with the new connection.
 */
export const GATEWAY_TIMEOUT = Duration.seconds(5);

/** How often the sweep looks for lost connections, lost wills and expired sessions. */
export const SWEEP_INTERVAL = Duration.minutes(10);
/** A sweep scans the whole table, in segments; it ends before the next one begins. */
export const SWEEP_TIMEOUT = Duration.minutes(9);

/** The operator's function may scan the whole table twice, and waits for most of a minute in between. */
export const OPERATOR_TIMEOUT = Duration.minutes(14);

/** A batch of ten jobs, with a slice of 500 recipients each second or faster; then the worker gives the rest back. */
export const WORKER_TIMEOUT = Duration.seconds(30);
/** One timer is one session's will or expiry. */
export const TIMERS_TIMEOUT = Duration.seconds(30);
/**
 * A batch of ten messages of one topic, each of which may wait for a slow webhook; with less than a minute left the
 * function begins no call.
 */
export const RULES_TIMEOUT = Duration.minutes(3);
/** Like `VISIBILITY_TIMEOUT`, for the function of rules. */
export const RULES_VISIBILITY_TIMEOUT = Duration.seconds(270);
/** Concurrent invocations of the function of rules: each sends the messages of some topics. */
export const RULE_CALLS_MAX = 20;
/**
 * Concurrent invocations of the function of timers: with ten timers each they fire some 600 a second, and take
 * half of what the tables are allowed by default (`tableMaximumOf`). The clients that come back take the other half.
 */
export const TIMER_CALLS_MAX = 10;
/**
 * A message whose function died comes again after this; in a FIFO queue all behind it in its group wait this long. SQS
 * demands no less than the function's timeout, and a half more is for the batch's way from the poller to the function.
 * AWS's advice, six times, spares functions that nothing guards against an early redelivery: a fan-out worker that was
 * overtaken finds another owner in the claim, and a timer that fires twice finds its work done.
 */
export const VISIBILITY_TIMEOUT = Duration.seconds(45);
/**
 * The most that SQS allows: every hand-back counts as a receive, and a healthy job may be handed back often. Workers
 * themselves detect jobs that make no progress; this is for a worker that cannot report them.
 */
export const RECEIVES_MAX = 1_000;
/** How long the owner can look at failed messages: the maximum of SQS. */
export const DEAD_LETTER_RETENTION = Duration.days(14);
/**
 * The most jobs that SQS passes to a worker of a FIFO queue at once. Messages of one batch for a connection leave in
 * one post: with fewer a busy topic is served more slowly and costs more
 * (loadtest/results/simulation.md, "Why batches of ten").
 */
export const BATCH_SIZE = 10;

/**
 * 512 MB are 0.29 of a processor. For functions that clients wait for: with 256 MB a frame costs 1 % less and takes a
 * third longer, and so do cold starts and signatures (loadtest/results/cold-starts.md, "Memory").
 */
export const MEMORY_MEGABYTES = 512;
/** For functions that run every ten minutes, or hardly ever. */
export const MEMORY_MEGABYTES_SMALL = 256;

/** One worker keeps this pace with 512 MB: a post takes 0.15 ms of a processor, and its answer about 10 ms. */
export const POSTS_PER_WORKER_SECOND = 500;
/** The highest pace of a worker: half of its share of a processor. */
export const POSTS_PER_WORKER_SECOND_MAX = 1_000;
/** SQS allows no fewer concurrent invocations of one event source. */
export const WORKERS_MIN = 2;
/** The most shards of a filter: more workers serve no message sooner, but each of these may be faster. */
export const WORKERS_MAX = 256;
export const POSTS_PER_SECOND_MAX = WORKERS_MAX * POSTS_PER_WORKER_SECOND_MAX;

export const FRAMES_PER_SECOND = 500;
export const POSTS_PER_SECOND = 1_000;
export const CONNECT_TIMEOUT_SECONDS = 30;
export const MESSAGES_PER_MINUTE_MAX = 100_000;
/** Two checks of the schedule. A runaway that goes on gets some three minutes of them. */
export const BREAKER_RESET_MINUTES = 20;

/** HS256 needs 32 bytes; letters and digits hold 5.95 bits each. */
export const SECRET_LENGTH = 64;
