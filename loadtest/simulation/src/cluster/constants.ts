/** A number that was measured or assumed: the lowest, the usual and the highest value seen. */
export interface Bounds {
  readonly least: number;
  readonly usual: number;
  readonly most: number;
}

export type Case = keyof Bounds;
export const CASES: readonly Case[] = ['least', 'usual', 'most'];

/*
 * CPU microseconds of a core of the machine that measured them (AMD EPYC). "Bench" is
 * loadtest/results/benchmarks.md, "bus" a run of `node test/cluster/bench/run.mjs price`, "constants" what
 * `node test/cluster/bench/constants.mjs` printed (loadtest/results/simulation.md has it).
 */

/** A message at QoS 1 from its publisher to one subscriber, with both acknowledgements, at one process. */
export const EXCHANGE_US: Bounds = {
  // Bench: 51,300 a CPU second when the process has always something to do.
  least: 19,
  // Bench: 22,700, at ten messages a second for each of 1,000 pairs.
  usual: 44,
  // Constants: one message at a time, 1,000/s.
  most: 140,
};

/** The part of it that does not depend on the number of subscribers: reading, checking and answering a PUBLISH. */
export const PUBLISH_SHARE = 0.4;

/** One more delivery of a message that goes to many: an encoded frame that is written once more. */
export const DELIVERY_QOS0_US: Bounds = {
  // Bench: 5 topics to 1,000, 1,140,000 a CPU second.
  least: 0.9,
  // Bus: 200 subscribers, 500 messages a second.
  usual: 3.5,
  // A subscriber that gets one message a second has a cold socket each time: half of a lone exchange (bench).
  most: 22,
};

export const DELIVERY_QOS1_US: Bounds = {
  // Bench: 5 topics to 200, 349,000 a CPU second.
  least: 2.9,
  // Bench: 1 to 200, 222,000.
  usual: 4.5,
  // Bus: 50 messages a second.
  most: 17.8,
};

/** From this number of deliveries on a delivery is one of many. */
export const MANY_RECIPIENTS = 10;

/** A message to another process and its acknowledgement back: both processes together. */
export const HOP_US: Bounds = {
  // Constants: two processes at 4,000/s, 138 against 91.
  least: 47,
  // Constants: three processes at 4,000/s, 157 against 90.
  usual: 66,
  // Constants: two processes at 1,000/s, 388 against 140: each is woken up for one message.
  most: 248,
};

/** The same at the engine: a message and an acknowledgement, each an entry of its own unless several share one. */
export const ENGINE_HOP_US: Bounds = {
  // Constants: two processes at 4,000/s, 4.5 against 0.5.
  least: 4,
  // Constants: three processes at 4,000/s, 5.5 against 0.4.
  usual: 5.1,
  // Two entries that hold one message each, of an engine with always something to do: `redis-benchmark -c 34 PUBLISH`, 7.6.
  most: 15.3,
};

/**
 * Without an acknowledgement, for processes with so many messages for each other that these share entries (constants).
 */
export const HOP_QOS0_US: Bounds = {
  // 4,000/s from one publisher to a process, in bursts of 40: 37 against 21.
  least: 16,
  // One after another: 63 against 35.
  usual: 28,
  // The same, with a third process beside them: 75 against 38.
  most: 37,
};

export const ENGINE_HOP_QOS0_US: Bounds = { least: 2.3, usual: 6.6, most: 7.6 };

/** A PINGREQ and its answer; assumed: a third of a lone exchange, which has four frames. */
export const PING_US: Bounds = { least: 6, usual: 15, most: 47 };

/** A new client: handshake, CONNECT, its claim in the engine. */
export const CONNECT_US: Bounds = {
  // loadtest/results/performance.md, a warm process without a cluster.
  least: 250,
  // Constants: 2,000 at a process that has just started.
  usual: 480,
  most: 500,
};
export const ENGINE_CONNECT_US: Bounds = { least: 15, usual: 20, most: 25 };

/**
 * A filter: at the process of its client, and at each of the others, which learn that the process needs it (constants).
 */
export const SUBSCRIBE_US: Bounds = { least: 114, usual: 131, most: 152 };
export const ROUTE_US: Bounds = { least: 9.3, usual: 9.5, most: 11 };
export const ENGINE_SUBSCRIBE_US: Bounds = { least: 12, usual: 14, most: 15.8 };

/**
 * Resident bytes of a process, of a connection, and of a filter that another process wants (constants). The process has
 * 71 MB when it has started, and 111 MB with messages: its code is compiled, and its young generation has grown.
 */
export const PROCESS_BYTES = 111_000_000;
export const CONNECTION_BYTES: Bounds = {
  // loadtest/results/performance.md: after 16 idle seconds.
  least: 3_800,
  // Constants: 151 to 154 MB with 10,000 of them and messages.
  usual: 4_200,
  // Constants: when they have just come.
  most: 6_800,
};
export const ROUTE_BYTES: Bounds = { least: 570, usual: 600, most: 620 };

/** Bytes of the engine: without anything; of a client that is connected; of a filter of a process (constants). */
export const ENGINE_BYTES = 50_000_000;
export const ENGINE_CLIENT_BYTES = 140;
export const ENGINE_ROUTE_BYTES = 94;

/**
 * Bytes besides a message: on a client's wire (WebSocket, PUBLISH, a topic of 30 bytes), and in an entry between
 * processes.
 */
export const WIRE_OVERHEAD_BYTES = 40;
export const ENTRY_OVERHEAD_BYTES = 80;
/** A frame of TCP, IP and TLS around it, which transfer is billed for. */
export const PACKET_OVERHEAD_BYTES = 69;

/** How long no process has the sessions of a dead process. */
export const LEASE_SECONDS = 5;

/** The most that one primary of a durable ElastiCache writes. */
export const ENGINE_BYTES_PER_SECOND_MAX = 100 * 1024 * 1024;
/** The part of an engine's memory that is for data; the rest is for copies and buffers. */
export const ENGINE_MEMORY_SHARE = 0.75;
