import { billOf } from './bill.ts';
import { addUsage, type Usage, usage } from './usage.ts';

/**
 * Frames that every MQTT transport over API Gateway needs: a message reaches the broker in one frame and a recipient in
 * another, and packets that MQTT answers get an answer. Packets that travelled together count as one frame.
 */
export interface UnavoidableFrames {
  /** CONNECT; its CONNACK is one more. */
  readonly connects: number;
  /** Moves before the gateway ends a connection; each is answered. */
  readonly moves: number;
  /** Resumes after a loss; each is answered. */
  readonly resumes: number;
  /** Frames with a SUBSCRIBE; each is answered. */
  readonly subscribes: number;
  /** Frames from clients with a PUBLISH or, at QoS 2, a PUBREL. */
  readonly publishes: number;
  /** Frames to clients that answer them: none at QoS 0. */
  readonly publishAnswers: number;
  /** Frames to clients with a PUBLISH or, at QoS 2, a PUBREL. */
  readonly deliveries: number;
  /** Frames from clients that acknowledge them: only if something is kept until they do. */
  readonly deliveryAnswers: number;
  readonly connectionMinutes: number;
}

/** The unavoidable usage, and its price. */
export interface Floor {
  readonly usage: Usage;
  readonly framesUsd: number;
  readonly minutesUsd: number;
  readonly usd: number;
}

export function floorOf(frames: UnavoidableFrames): Floor {
  const { connects, moves, resumes, subscribes } = frames;
  const { publishes, publishAnswers, deliveries, deliveryAnswers } = frames;
  const answered = connects + moves + resumes + subscribes;
  const exchanges = usage({
    gatewayMessagesIn: answered + publishes + deliveryAnswers,
    gatewayMessagesOut: answered + publishAnswers + deliveries,
  });
  const minutes = usage({ connectionMinutes: frames.connectionMinutes });
  const framesUsd = billOf(exchanges).usd;
  const minutesUsd = billOf(minutes).usd;
  return { usage: addUsage(exchanges, minutes), framesUsd, minutesUsd, usd: framesUsd + minutesUsd };
}
