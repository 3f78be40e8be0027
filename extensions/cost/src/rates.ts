import { SHAPES_LEASE_SECONDS } from './budgets.ts';
import { FRAME_BYTES_MAX, type Workload } from './workload.ts';

/** PUBLISH beside topic and payload: fixed header, topic length, packet id, no properties. */
const PUBLISH_OVERHEAD_BYTES = 8;

/** The transport sends a PINGREQ after this long without a frame that asks for a reply. */
const PING_SECONDS = 2_160;

/** After this long without a frame in either direction the transport sends a sign of life, which is not answered. */
const IDLE_SECONDS = 540;

/** A client that always waits this long before a lone QoS 0 publish asks for no reply. */
const RARE_AFTER_SECONDS = 5;

const SECONDS_PER_HOUR = 3_600;

/** The rates of a workload in a month. */
export interface Rates {
  readonly onlineHours: number;
  readonly connectionMinutes: number;
  readonly connects: number;
  readonly moves: number;
  /** Lost connections whose session another one resumes. */
  readonly resumes: number;
  /** Lost connections that are followed by a CONNECT; `connects` includes them. */
  readonly losses: number;
  readonly publishes: number;
  readonly deliveries: number;
  /** A PUBLISH, in MQTT bytes. */
  readonly packetBytes: number;
  /** PUBLISHes that share a frame, on average. */
  readonly packing: number;
  /** Whether publishes ask for a reply. */
  readonly isAnswered: boolean;
  /** PINGREQs. */
  readonly pings: number;
  /** Frames that keep an idle connection open, and are not answered. */
  readonly signsOfLife: number;
  /** Reads of the registry of shapes for each frame that publishes. */
  readonly leaseReadsPerFrame: number;
}

export function ratesOf(workload: Workload): Rates {
  const { clients, hours, days, publishesPerHour, publisherShare, fanOut, qos } = workload;
  const onlineHours = clients * hours * days;
  const publishers = clients * publisherShare;
  const publishes = publishers * publishesPerHour * hours * days;
  const packetBytes = workload.bytes + workload.topicBytes + PUBLISH_OVERHEAD_BYTES;
  const packing = packingOf(workload, packetBytes);
  const lost = clients * workload.lossesPerDay * days;
  const resumes = lost * workload.resumedShare;
  const losses = lost - resumes;
  const isAnswered = qos > 0 || publishesPerHour >= SECONDS_PER_HOUR / RARE_AFTER_SECONDS;
  const connects = clients * workload.connectsPerDay * days + losses;
  const moves = clients * workload.movesPerDay * days;
  const deliveries = publishes * fanOut;
  const begun = connects + moves + resumes;
  return {
    onlineHours,
    connectionMinutes: onlineHours * 60,
    connects,
    moves,
    resumes,
    losses,
    publishes,
    deliveries,
    packetBytes,
    packing,
    isAnswered,
    ...heartbeatsOf(workload, { onlineHours, isAnswered, deliveries, begun }),
    leaseReadsPerFrame: leaseReadsPerFrame(workload, packing),
  };
}

/** The packets that one client writes while it waits for a reply leave as one frame. */
function packingOf({ packetsPerFrame, publishesPerHour, replyMs }: Workload, packetBytes: number): number {
  const fitting = Math.max(1, Math.floor(FRAME_BYTES_MAX / packetBytes));
  const perReply = (publishesPerHour / SECONDS_PER_HOUR) * (replyMs / 1_000);
  return Math.min(fitting, packetsPerFrame ?? Math.max(1, perReply));
}

interface Presence extends Pick<Rates, 'onlineHours' | 'isAnswered' | 'deliveries'> {
  /** Connections begun: each begins with a frame that is answered, or with a handshake. */
  readonly begun: number;
}

/**
 * A frame that is answered proves the connection as well as a PINGREQ, and every frame keeps it open as well as a sign
 * of life. At the end of a connection, on average half an interval has passed.
 */
function heartbeatsOf(
  { publisherShare, publishesPerHour }: Workload,
  { onlineHours, isAnswered, deliveries, begun }: Presence,
): Pick<Rates, 'pings' | 'signsOfLife'> {
  if (onlineHours === 0) return { pings: 0, signsOfLife: 0 };
  const begunPerHour = begun / onlineHours;
  const timesPerHour = (seconds: number): number =>
    Math.max(0, SECONDS_PER_HOUR / seconds - begunPerHour / 2);
  const received = deliveries / onlineHours;
  const answered = isAnswered ? publishesPerHour : 0;
  const pingsOf = (answeredPerHour: number): number =>
    Math.max(0, timesPerHour(PING_SECONDS) - answeredPerHour);
  const signsOf = (pings: number, framesPerHour: number): number =>
    Math.max(0, timesPerHour(IDLE_SECONDS) - pings - framesPerHour);
  const ofPublisher = pingsOf(answered);
  const ofOthers = pingsOf(0);
  const mean = (publisher: number, other: number): number =>
    onlineHours * (publisherShare * publisher + (1 - publisherShare) * other);
  return {
    pings: mean(ofPublisher, ofOthers),
    signsOfLife: mean(signsOf(ofPublisher, publishesPerHour + received), signsOf(ofOthers, received)),
  };
}

/** Each execution environment reads the shapes again in every two seconds in which it needs them. */
function leaseReadsPerFrame(workload: Workload, packing: number): number {
  const { clients, publisherShare, publishesPerHour, frameMs } = workload;
  const framesPerSecond = (clients * publisherShare * publishesPerHour) / SECONDS_PER_HOUR / packing;
  const environments = Math.max(1, framesPerSecond * (frameMs / 1_000));
  return framesPerSecond === 0 ? 1 : Math.min(1, environments / SHAPES_LEASE_SECONDS / framesPerSecond);
}
