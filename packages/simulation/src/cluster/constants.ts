/** A number that was measured or assumed: the lowest, the usual and the highest value seen. */
export interface Bounds {
  readonly least: number;
  readonly usual: number;
  readonly most: number;
}

export type Case = keyof Bounds;
export const CASES: readonly Case[] = ['least', 'usual', 'most'];

/*
 * CPU microseconds of a core of the machine that measured them (AMD EPYC). "Bench" is docs/benchmarks.md, "bus" the table
 * of docs/cluster.md, "constants" what `node test/cluster/bench/constants.mjs` printed (docs/simulation.md has it).
 */

/** A message at QoS 1 from its publisher to one subscriber, with both acknowledgements, at one process. */
export const EXCHANGE_US: Bounds = {
  // Bench: 43,100 a CPU second when the process has always something to do.
  least: 23,
  // At ten messages a second for each of 1,000 pairs: 13,100 to 15,400.
  usual: 70,
  // At one message a second for each: 9,600; constants, at 1,000/s: 94.
  most: 104,
};

/** The part of it that does not depend on the number of subscribers: reading, checking and answering a PUBLISH. */
export const PUBLISH_SHARE = 0.4;

/** One more delivery of a message that goes to many: an encoded frame that is written once more. */
export const DELIVERY_QOS0_US: Bounds = {
  // Bench: 1 to 200, 507,000 a CPU second.
  least: 2,
  // Bus: 200 subscribers, 50 messages a second.
  usual: 4.1,
  // A subscriber that gets one message a second has a cold socket each time: half of the cost of a lone delivery.
  most: 15,
};

export const DELIVERY_QOS1_US: Bounds = {
  // 192,000 a CPU second, closed loop, 200 subscribers.
  least: 5.2,
  // Bench: 115,000.
  usual: 8.7,
  // Bus: 50 messages a second.
  most: 22.5,
};

/** From this number of deliveries on a delivery is one of many. */
export const MANY_RECIPIENTS = 10;

/** A message to another process and its acknowledgement back: both processes together. */
export const HOP_US: Bounds = {
  // Constants: two processes with all that they can do, 129 against 45.
  least: 84,
  // Bus, two processes.
  usual: 100,
  // Constants: two processes at 1,000/s, 215 against 94.
  most: 121,
};

/** The same at the engine: a message and an acknowledgement, each an entry of its own unless several share one. */
export const ENGINE_HOP_US: Bounds = {
  // Constants: two processes, 7.5 against 2.0.
  least: 5.5,
  // Constants: three processes with all that they can do.
  usual: 9.2,
  // Bus: four processes at 1,000/s, hardly anything shared.
  most: 19,
};

/**
 * Without an acknowledgement, for processes with so many messages for each other that these share entries (constants).
 */
export const HOP_QOS0_US: Bounds = {
  // 4,000/s from one publisher to a process, 32 against 22.5.
  least: 9,
  usual: 25,
  // The same, with a third process beside them: 67.
  most: 45,
};

export const ENGINE_HOP_QOS0_US: Bounds = { least: 2, usual: 5, most: 8.4 };

/** A PINGREQ and its answer; assumed: a third of a lone exchange, which has four frames. */
export const PING_US: Bounds = { least: 10, usual: 25, most: 35 };

/** A new client: handshake, CONNECT, its claim in the engine. */
export const CONNECT_US: Bounds = {
  // docs/performance.md, a warm process without a cluster.
  least: 250,
  // Constants: 2,000 at a process that has just started, alone; one of three.
  usual: 635,
  most: 720,
};
export const ENGINE_CONNECT_US: Bounds = { least: 40, usual: 50, most: 65 };

/**
 * A filter: at the process of its client, and at each of the others, which learn that the process needs it (constants).
 */
export const SUBSCRIBE_US: Bounds = { least: 124, usual: 134, most: 158 };
export const ROUTE_US: Bounds = { least: 12, usual: 13, most: 15 };
export const ENGINE_SUBSCRIBE_US: Bounds = { least: 10.3, usual: 13.8, most: 16.3 };

/** Resident bytes of a process: without clients; of a connection (bench); of a filter that another process wants (constants). */
export const PROCESS_BYTES = 110_000_000;
export const CONNECTION_BYTES = 10_200;
export const ROUTE_BYTES: Bounds = { least: 650, usual: 830, most: 1_050 };

/** Bytes of the engine: without anything; of a client that is connected; of a filter of a process (constants). */
export const ENGINE_BYTES = 50_000_000;
export const ENGINE_CLIENT_BYTES = 180;
export const ENGINE_ROUTE_BYTES = 95;

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
