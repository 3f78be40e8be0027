import { flush } from './after.ts';
import type { Environment } from './environment.ts';
import type { ProxyResult } from './events.ts';
import type { GatewayLink } from './gateway-link.ts';
import { METRICS } from './lambda/metric-names.ts';
import { type ClientFrame, formatPush, formatReply, REPLY_BYTES_MAX } from './text-frame.ts';

/** No reply. */
export const DONE: ProxyResult = { statusCode: 200 };

/**
 * The reply; or, for a frame that wants none, a push of what the frame has caused. `taken`: packets that were handled,
 * where they are not all.
 */
export async function answerFrame(
  environment: Environment,
  link: GatewayLink,
  frame: ClientFrame,
  taken: number | undefined,
): Promise<ProxyResult> {
  environment.meter.add(METRICS.messagesOut, link.out.publishes);
  if (!frame.replyWanted) {
    await push(environment, link, link.out.takeFrames());
    return DONE;
  }
  // CONNACK and SUBACK are in the reply, whatever a large message behind them weighs: no push may hold them.
  const [bytes = Buffer.alloc(0), ...others] = link.out.takeFrames(REPLY_BYTES_MAX);
  await push(environment, link, others);
  const clock = newerClock(environment, frame);
  return { statusCode: 200, body: formatReply({ bytes, more: link.isMoreWaiting, clock, taken }) };
}

/** The clock, where the client has not seen as much yet. */
function newerClock({ broker }: Environment, { clock: seen = '' }: ClientFrame): string | undefined {
  const clock = broker.messageClock.read();
  return clock > seen && !isZero(clock) ? clock : undefined;
}

/** An environment that has not handled a message yet has seen nothing. */
function isZero(clock: string): boolean {
  return /^0*$/.test(clock);
}

/** The client's own DISCONNECT is answered, and the client closes. Otherwise the server does. */
export async function closeAfterFrame(
  environment: Environment,
  link: GatewayLink,
  frame: ClientFrame,
): Promise<ProxyResult> {
  if (frame.replyWanted && link.endedBy === 'client')
    return await answerFrame(environment, link, frame, undefined);
  return await endLink(environment, link);
}

/** Tells the client why, then cuts it: a reply would come after the cut. */
export async function endLink(environment: Environment, link: GatewayLink): Promise<ProxyResult> {
  await environment.links.end(link.id);
  await flush(environment);
  await push(environment, link, link.out.takeFrames());
  await environment.poster.delete(link.id);
  return DONE;
}

async function push({ poster }: Environment, link: GatewayLink, frames: readonly Buffer[]): Promise<void> {
  for (const frame of frames) await poster.post(link.id, formatPush(frame), true);
}
