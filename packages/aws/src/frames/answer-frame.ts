import type { GatewayLink } from '../connections/gateway-link.ts';
import type { Environment } from '../environment.ts';
import type { ProxyResult } from '../events/gateway.ts';
import { METRICS } from '../metrics/metric-names.ts';
import type { Outbox } from '../outbox.ts';
import { logFailedPost } from '../posts/gathered-posts.ts';
import { bytesOf, Frame, type OutgoingPacket, publishesIn } from './frame.ts';
import { packed } from './packing.ts';
import {
  AGREED_BYTES_MAX,
  type ClientFrame,
  formatReply,
  REPLY_BYTES_MAX,
  REPLY_PARTS_MAX,
} from './text-frame.ts';

/** A frame that is being handled. */
export interface HandledFrame {
  readonly environment: Environment;
  readonly outbox: Outbox;
  readonly link: GatewayLink;
}

/** No reply. */
export const DONE: ProxyResult = { statusCode: 200 };

/**
 * Sends the reply; for a frame without a reply, posts the packets for its client. `taken`: how many packets were
 * handled, if not all.
 */
export async function answerFrame(
  handled: HandledFrame,
  frame: ClientFrame,
  taken: number | undefined,
  move?: string,
): Promise<ProxyResult> {
  const { environment, outbox, link } = handled;
  const packets = link.out.take();
  if (!frame.replyWanted) {
    await push(handled, packets);
    return DONE;
  }
  const agreed = frame.offered === undefined && move === undefined ? 0 : AGREED_BYTES_MAX;
  const [first, others] = splitReply(packets, REPLY_BYTES_MAX - agreed);
  const parts = await postParts(handled, others);
  if (parts === 'lost') return DONE;
  environment.meter.add(METRICS.messagesOut, publishesIn(first));
  const clock = newerClock(outbox, frame);
  const body = formatReply({
    bytes: bytesOf(first),
    more: link.isMoreWaiting || outbox.stores?.isMoreWaiting === true,
    clock,
    taken,
    parts,
    extensions: frame.offered,
    move,
  });
  outbox.usage?.sent(body, first);
  return { statusCode: 200, body };
}

/**
 * Splits a reply into the packets of its frame and those of its parts. A packet of the largest size leaves no room for
 * the frame's header.
 */
function splitReply(
  packets: readonly OutgoingPacket[],
  bytesMax: number,
): readonly [readonly OutgoingPacket[], readonly (readonly OutgoingPacket[])[]] {
  const groups = packed(packets, bytesMax);
  const [first = [], ...others] = groups;
  return bytesOf(first).length <= bytesMax ? [first, others] : [[], groups];
}

/** The server's clock, if the client has not seen as much yet. */
function newerClock({ broker }: Outbox, { clock: seen = '' }: ClientFrame): string | undefined {
  const clock = broker.messageClock.read();
  return clock > seen && !isZero(clock) ? clock : undefined;
}

/** A clock of an environment that has not handled a message yet. */
function isZero(clock: string): boolean {
  return /^0*$/.test(clock);
}

/** If the client has sent DISCONNECT, it is answered and closes the connection. Otherwise the server closes it. */
export async function closeAfterFrame(handled: HandledFrame, frame: ClientFrame): Promise<ProxyResult> {
  if (frame.replyWanted && handled.link.endedBy === 'client')
    return await answerFrame(handled, frame, undefined);
  return await endLink(handled);
}

/**
 * Tells the client why, then closes the connection: a reply would come after the close. The connection's item gets its
 * end only when the client has been told:
 *
 *     handler of frame 1                 handler of frame 2, at the same time
 *     posts DISCONNECT
 *     ends the connection's item
 *                                        finds that it has ended: cuts the client
 *     cuts the client
 */
export async function endLink(handled: HandledFrame): Promise<ProxyResult> {
  const { outbox, link } = handled;
  await outbox.commit();
  await push(handled, link.out.take());
  await outbox.links.end(link.id);
  await outbox.poster.delete(link.id);
  return DONE;
}

/**
 * Posts packets to the frame's own client, and closes the connection when the post fails. This matters most when a
 * PUBACK or PUBCOMP without a reply dequeues messages, as its client does not wait:
 *
 *     handler of PUBCOMP                 client
 *     dequeues m, QoS 2; posts it
 *                                        PUBLISH m; PUBREC, PUBREL, PUBCOMP: complete, its packet id is free
 *     the post is answered 500: unknown
 *     (were it posted again …)
 *                                        … PUBLISH m would be another message [MQTT-4.4.0-1]
 *     ends the connection: the next one is sent m, or the rest of its exchange
 */
async function push({ outbox, link }: HandledFrame, packets: readonly OutgoingPacket[]): Promise<void> {
  if (packets.length === 0) return;
  for (const { bytes, mustArrive } of packets) outbox.posts.push(link.id, bytes, mustArrive);
  await outbox.commit();
}

/**
 * Posts the packets that do not fit into the reply's frame (after a page of the queue, a message of over 73 KB). These
 * posts arrive before the reply. Each says that it is a part of the reply, and the reply says how many parts there
 * are: the client puts the parts after the reply, and later frames after the parts (docs/text-frames.md, section 2).
 *
 *     handler of PUBACK                  client, if the part were a push
 *     dequeues 1, 2, and 3, which is large
 *     posts 3
 *                                        3
 *     replies: 1, 2
 *                                        1, 2 [MQTT-4.6.0-5]
 *
 * If the reply says that more waits, the client holds a push until the last page, and gets 1, 2, 4, 3.
 *
 * A part is posted once. If it is unknown whether it arrived, or if it did not arrive and has to, the connection is
 * closed; only a message of QoS 0 may be missing. Returns how many parts have arrived.
 */
async function postParts(
  { environment, outbox, link }: HandledFrame,
  groups: readonly (readonly OutgoingPacket[])[],
): Promise<number | 'lost'> {
  let posted = 0;
  for (const group of groups) {
    const part = Frame.partOf(group);
    const outcome = posted === REPLY_PARTS_MAX ? 'too-large' : await outbox.poster.post(link.id, part, false);
    if (outcome === 'sent') {
      posted += 1;
      environment.meter.add(METRICS.messagesOut, part.publishes);
    } else if (part.mustArrive || outcome === 'gone' || outcome === 'failed') {
      await outbox.lose(link.id);
      return 'lost';
    } else {
      const { packets } = part;
      logFailedPost(environment.log, { connectionId: link.id, outcome, isLoss: false, packets });
    }
  }
  return posted;
}
