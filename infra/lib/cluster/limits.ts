import { Duration } from 'aws-cdk-lib/core';

/** The port of the processes: that of `apus serve`. */
export const NODE_PORT = 8083;
export const TLS_PORT = 443;
/** Not the usual port: a scan for open engines tries that one first. */
export const ENGINE_PORT = 6380;

/** One process has one event loop: a second core would be idle except for the garbage collector. */
export const TASK_CPU_UNITS = 1_024;
export const TASKS_LEAST = 2;
export const TASKS_MOST = 10;
/** The engine numbers a process at each start, 65,536 in all; and each talks to each. */
export const TASKS_MAX = 200;
export const MEMORY_MEGABYTES = 2_048;
/**
 * Node.js gives its heap half of a container's memory. This container runs nothing else, and filters of other processes
 * fill the heap first; the rest is for buffers of connections.
 */
export const HEAP_SHARE = 0.65;
export const CONNECTIONS_MAX = 20_000;
export const CPU_PERCENT = 50;
/**
 * A task is added when this share of `connectionsMax` is used, on average: the rest is for the clients of a task that
 * dies.
 */
export const CONNECTIONS_SHARE = 0.75;
/** Fargate's hard limit of open files. */
export const OPEN_FILES_MAX = 65_535;

/**
 * The load balancer closes a TLS connection that was silent for 350 s, which cannot be changed: clients have to send
 * earlier. 300 leaves time for a late ping.
 */
export const KEEP_ALIVE_SECONDS_MAX = 300;

/**
 * From the deregistration of a task at the load balancer to SIGTERM: for some seconds new connections still come.
 * Existing connections stay until the process closes them itself.
 */
export const DEREGISTRATION_DELAY = Duration.seconds(15);
/** How long a process waits for its clients after DISCONNECT (0x8B). */
export const SHUTDOWN_SECONDS = 20;
/** From SIGTERM to SIGKILL: the time above, and some more for the engine. */
export const STOP_TIMEOUT = Duration.seconds(60);
/** A process has to join the engine and to read its keys first. */
export const START_PERIOD = Duration.seconds(60);
export const HEALTH_INTERVAL = Duration.seconds(10);

/** Connections do not move to a new task by themselves: adding a second one too early would not help. */
export const SCALE_OUT_COOLDOWN = Duration.minutes(3);
/** Each task that leaves disconnects its clients. */
export const SCALE_IN_COOLDOWN = Duration.minutes(15);

export const ENGINE_NODE_TYPE = 'cache.m7g.large';
export const ENGINE_REPLICAS = 1;
export const SNAPSHOT_DAYS = 1;
/** The first version that can write durably. */
export const ENGINE_VERSION = '9.0';
/** Unconfirmed: AWS used such family names for earlier versions. */
export const ENGINE_FAMILY = 'valkey9';
/** Families of nodes that can write durably. */
export const DURABLE_NODE_TYPE = /^cache\.(r6g|r7g|r8g|m6g|m7g|m8g|c7gn|c8gn)\.\w+$/;

/** ElastiCache takes passwords of 16 to 128 characters, with little punctuation. */
export const ENGINE_PASSWORD_LENGTH = 64;
