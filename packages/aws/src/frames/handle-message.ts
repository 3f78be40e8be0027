import { ConnectionLost, type Identity, type LinkState, reasonOf, Turn, Unavailable } from '@apus/broker';
import { peerHostOf } from '@apus/identity';
import {
  encodePacket,
  type Packet,
  PacketDecoder,
  type ProtocolVersion,
  ReasonCode,
  Violation,
} from '@apus/mqtt';
import { GatewayLink, hasFullReplays, hasMore } from '../connections/gateway-link.ts';
import type { Environment } from '../environment.ts';
import type { InvocationContext, MessageEvent, ProxyResult } from '../events/gateway.ts';
import { METRICS } from '../metrics/metric-names.ts';
import { CLOCK_AHEAD_MS_MAX } from '../options.ts';
import { Outbox } from '../outbox.ts';
import { contentsOf } from '../quotas/frame-contents.ts';
import { senderOf } from '../quotas/sender.ts';
import { tenantOf } from '../usage/event-usage.ts';
import { agreedWith, resumeSecondsWith } from './agreement.ts';
import { answerFrame, closeAfterFrame, DONE, endLink, type HandledFrame } from './answer-frame.ts';
import { handleMove } from './handle-move.ts';
import { handleResume } from './handle-resume.ts';
import { leaveReplays, saveEnd, saveLink } from './save-link.ts';
import { type ClientFrame, type Extension, formatPush, parseClientFrame } from './text-frame.ts';
import { movableWith, newTicket, readTicket, ticketText } from './tickets.ts';
import { isOnePacket, topicNamesOf } from './topic-names.ts';

/** A handler with less time left begins no further packet: it still has to post and to save. */
const RESERVE_MS = 1_500;

const NO_BYTES = Buffer.alloc(0);

/** `$default`: one frame of a client. Decode, load, let the broker decide, deliver, save, reply. */
export async function handleMessage(
  environment: Environment,
  event: MessageEvent,
  context: InvocationContext,
): Promise<ProxyResult> {
  const { connectionId, connectedAt } = event.requestContext;
  const frame = parseClientFrame(event.body ?? '', environment.extensions);
  const outbox = new Outbox(environment, {
    connectionId,
    looksAtEnd: true,
    isReplyWanted: frame instanceof Violation || frame.replyWanted,
    isOnePacket: isOnePacket(bytesOf(frame)),
  });
  outbox.usage?.frameIn(event.body ?? '', bytesOf(frame).length);
  let link: GatewayLink | undefined;
  try {
    const state = await load(environment, outbox, connectionId, frame);
    outbox.usage?.isOf(tenantOf(state));
    if (state.phase === 'closed') {
      await handleLateDisconnect(environment, outbox, state, frame, connectionId);
      // The connection was taken over or has ended, so its socket is closed.
      await environment.poster.delete(connectionId);
      return DONE;
    }
    if (environment.connectDeadline?.isOver(state, connectedAt) === true) {
      await environment.connectDeadline.cut(connectionId);
      return DONE;
    }
    link = linkOf(environment, outbox, event, state, frame);
    const handled: HandledFrame = { environment, outbox, link };
    if (!(await isPaidFor(environment, link, frame))) return await cut(handled);
    return await handleFrame(handled, frame, context);
  } catch (error) {
    await outbox.abandon();
    return await fail(environment, connectionId, link?.state, error);
  } finally {
    outbox.usage?.isOf(tenantOf(link?.state));
    outbox.usage?.handOver();
  }
}

/** The state of the connection. The same call reads the heads of the filters that the frame's topics may match. */
async function load(
  { defaultTenant: tenant }: Environment,
  outbox: Outbox,
  connectionId: string,
  frame: ClientFrame | Violation,
): Promise<LinkState> {
  await outbox.stores?.readAhead({ connectionId, tenant, topicNames: topicNamesOf(bytesOf(frame)) });
  return (await outbox.links.load(connectionId)) ?? { phase: 'new' };
}

function linkOf(
  { beforePage }: Environment,
  outbox: Outbox,
  { requestContext: { connectionId, identity } }: MessageEvent,
  state: LinkState,
  frame: ClientFrame | Violation,
): GatewayLink {
  const host = peerHostOf(identity?.sourceIp);
  const peer = {
    address: identity?.sourceIp ?? 'unknown',
    ...(host !== undefined && { host }),
    ...(isVerified(state) && { identity: state.identity }),
  };
  const offered = frame instanceof Violation ? undefined : frame.offered;
  const link = new GatewayLink(connectionId, peer, state, outbox.reply, offered);
  if (beforePage !== undefined) link.beforePage = () => beforePage(connectionId, () => outbox.commit());
  return link;
}

function bytesOf(frame: ClientFrame | Violation): Buffer {
  return frame instanceof Violation ? NO_BYTES : frame.bytes;
}

/**
 * `$disconnect` may be handled before the frame with DISCONNECT. The will waits for that (`LOSS_GRACE_SECONDS`), and
 * DISCONNECT still withdraws it [MQTT-3.14.4-3]. The other packets of the frame have no effect: the connection is
 * over.
 */
async function handleLateDisconnect(
  { maximumPacketSize }: Environment,
  outbox: Outbox,
  { before, movedTo }: Extract<LinkState, { phase: 'closed' }>,
  frame: ClientFrame | Violation,
  connectionId: string,
): Promise<void> {
  if (before?.phase !== 'connected' || movedTo !== undefined || frame instanceof Violation) return;
  const packets = decode(frame.bytes, before, maximumPacketSize);
  const disconnect = packets.find((packet) => !(packet instanceof Violation) && packet.type === 'disconnect');
  if (disconnect === undefined) return;
  const link = new GatewayLink(connectionId, { address: 'unknown' }, before);
  await outbox.broker.receive(link, disconnect);
  await outbox.commit();
}

function isVerified(state: LinkState): state is LinkState & { readonly identity: Identity } {
  return state.phase === 'new' && state.identity !== undefined;
}

/** Charges the frame to its sender before it is handled. */
async function isPaidFor(
  { frameQuota, defaultTenant }: Environment,
  link: GatewayLink,
  frame: ClientFrame | Violation,
): Promise<boolean> {
  if (frameQuota === undefined) return true;
  const { state, peer } = link;
  const contents = contentsOf(bytesOf(frame), state);
  const sender = senderOf(state, peer, defaultTenant);
  const clientId = state.phase === 'connected' ? state.connection.session.clientId : link.id;
  const exhausted = frameQuota.take(sender, clientId, contents);
  return (exhausted instanceof Promise ? await exhausted : exhausted) === undefined;
}

/**
 * The sender has used up its frames. The stage counts frames before any function sees them, so the connection is
 * closed: the client comes back by itself. DISCONNECT tells it why; a client without CONNACK is told nothing, as
 * mqtt.js does not come back after a CONNACK that refuses.
 */
async function cut(handled: HandledFrame): Promise<ProxyResult> {
  const { outbox, link } = handled;
  if (link.state.phase === 'connected') {
    const reason = 'more was sent than the quotas of this identity allow';
    await outbox.broker.disconnect(link, ReasonCode.MessageRateTooHigh, reason);
  }
  return await endLink(handled);
}

/**
 * The packets before the failure are not acknowledged. If a store or a queue is unavailable, the handler tells the
 * client and closes the connection: the client comes back later and sends again. Any other error is a defect, and the
 * integration fails.
 */
async function fail(
  environment: Environment,
  connectionId: string,
  state: LinkState | undefined,
  error: unknown,
): Promise<ProxyResult> {
  if (!(error instanceof Unavailable)) throw error;
  environment.log.warn('frame-unavailable', { connectionId, reason: reasonOf(error) });
  if (error instanceof ConnectionLost) {
    // No DISCONNECT, so that the client resumes its session.
    await environment.poster.delete(connectionId);
    return DONE;
  }
  if (state?.phase === 'connected' && state.connection.protocolVersion === 5) {
    const disconnect = encodePacket({ type: 'disconnect', reasonCode: error.reasonCode, properties: {} }, 5);
    await environment.poster.post(connectionId, formatPush(disconnect), false);
  }
  await environment.poster.delete(connectionId);
  return DONE;
}

async function handleFrame(
  handled: HandledFrame,
  frame: ClientFrame | Violation,
  context: InvocationContext,
): Promise<ProxyResult> {
  const { outbox, link } = handled;
  const { broker } = outbox;
  if (frame instanceof Violation) {
    await broker.receive(link, frame);
    return await endLink(handled);
  }
  if (frame.ticket !== undefined) {
    const ticket = readTicket(frame.ticket);
    if (frame.isResume === true) return await handleResume(handled, frame, ticket);
    return await handleMove(handled, ticket);
  }
  const asks = asksWhatWasAgreed(link, frame);
  if (frame.offered !== undefined && link.state.phase !== 'new' && !asks) {
    const reason = 'extensions are offered in the first frame alone';
    await broker.receive(link, new Violation(ReasonCode.MalformedPacket, reason));
    return await endLink(handled);
  }
  if (frame.clock !== undefined) broker.messageClock.observe(frame.clock, CLOCK_AHEAD_MS_MAX);
  const loaded = link.state;
  if (!frame.replyWanted) leaveReplays(link);
  const packets = decode(frame.bytes, link.state, handled.environment.maximumPacketSize);
  const taken = await handlePackets(handled, packets, frame, context);
  await outbox.commit();
  const move = asks ? askedMove(handled) : agree(handled, loaded);
  const isOpen = frame.replyWanted
    ? await saveLink(outbox, link, loaded, packets.some(isSubscribe))
    : await saveEnd(outbox, link, loaded);
  if (!isOpen) return await endLink(handled);
  if (link.endedBy !== undefined) return await closeAfterFrame(handled, frame);
  return await answerFrame(handled, asks ? { ...frame, offered: agreedOn(link) } : frame, taken, move);
}

/** A client whose CONNECT came with the handshake asks for the result (docs/text-frames.md, section 15). */
function asksWhatWasAgreed(link: GatewayLink, { offered, replyWanted }: ClientFrame): boolean {
  if (offered?.length !== 0 || !replyWanted || agreedOn(link) === undefined) return false;
  const { state } = link;
  if (state.phase === 'connected' && state.waiting !== undefined) {
    link.out.push(Buffer.from(state.waiting, 'base64'), true);
    const { waiting: _, ...told } = state;
    link.state = told;
  }
  return true;
}

function agreedOn({ state }: GatewayLink): readonly Extension[] | undefined {
  return state.phase === 'connected' ? (state.agreed as readonly Extension[] | undefined) : undefined;
}

/** The move field for a client that has chosen its ticket's secret itself. */
function askedMove({ environment, link }: HandledFrame): string | undefined {
  const agreed = agreedOn(link) ?? [];
  if (!agreed.includes('move')) return undefined;
  return movableWith(environment, link.id, resumeSecondsWith(environment, agreed));
}

/**
 * Saves what CONNECT has agreed on. The reply with CONNACK brings the ticket with which the client may move or resume
 * its session; the state keeps its hash.
 */
function agree({ environment, link }: HandledFrame, loaded: LinkState): string | undefined {
  const { state } = link;
  if (state.phase === 'authenticating' && link.offered.length > 0)
    link.state = { ...state, offered: link.offered };
  if (state.phase !== 'connected' || loaded.phase === 'connected') return undefined;
  const { offered } = link;
  const ticket = newTicket(link.id);
  link.state = agreedWith(environment, state, offered, ticket);
  if (!offered.includes('move')) return undefined;
  return movableWith(environment, ticketText(ticket), resumeSecondsWith(environment, offered));
}

/** Hands the packets to the broker, one after another. Returns how many, if it had to stop before the last. */
async function handlePackets(
  { environment, outbox, link }: HandledFrame,
  packets: readonly (Packet | Violation)[],
  frame: ClientFrame,
  context: InvocationContext,
): Promise<number | undefined> {
  const { meter } = environment;
  const { broker, stores } = outbox;
  let turn = new Turn(environment.clock);
  let taken = 0;
  for (const packet of packets) {
    if (turn.isOver) turn = await nextTurn(environment, outbox);
    if (link.endedBy !== undefined) return undefined;
    // Not for a frame without a reply: its client would not send the rest again.
    if (frame.replyWanted && context.getRemainingTimeInMillis() < RESERVE_MS) {
      if (stores?.takeDrainDue() === true) drainNextTime(link);
      return taken;
    }
    // The client sends it again, and each reply brings retained messages.
    if (frame.replyWanted && isSubscribe(packet) && hasFullReplays(link.state)) break;
    await broker.receive(link, packet);
    if (!(packet instanceof Violation) && packet.type === 'publish') {
      meter.add(METRICS.messagesIn);
      outbox.usage?.messageIn();
    }
    taken += 1;
  }
  // The acknowledgements of a frame make room once, at its end. A frame that fetches dequeues too, and so does any
  // frame with a reply while messages are known to wait.
  const isDue = stores?.takeDrainDue() === true;
  const isFetch = packets.every(isFetching) && !isSignOfLife(link.state, packets);
  if (isDue || (frame.replyWanted && (isFetch || hasMore(link.state)))) await broker.drain(link);
  if (stores?.isMoreWaiting === true) drainNextTime(link);
  return taken < packets.length ? taken : undefined;
}

/**
 * The packets so far leave first [SEC-WORK-5]: the messages of others that come meanwhile may have later places in a
 * stream.
 */
async function nextTurn({ pause, clock }: Environment, outbox: Outbox): Promise<Turn> {
  if (pause !== undefined) {
    await outbox.commit();
    await pause();
  }
  return new Turn(clock);
}

/**
 * PINGREQ of a session that ends with its connection: few messages wait for it, and a nudge announces them, so it
 * reads nothing.
 */
function isSignOfLife(state: LinkState, packets: readonly (Packet | Violation)[]): boolean {
  if (state.phase !== 'connected') return false;
  const { keepsNothing = false, takesNudges = false } = state.connection.session.attachment ?? {};
  if (!keepsNothing || !takesNudges) return false;
  return packets.some((packet) => !(packet instanceof Violation) && packet.type === 'pingreq');
}

/** A frame of such packets alone fetches; so does an empty frame. */
function isFetching(packet: Packet | Violation): boolean {
  if (packet instanceof Violation) return false;
  return packet.type === 'puback' || packet.type === 'pubcomp' || packet.type === 'pingreq';
}

/** The client sends the rest of the frame again at once, and that frame drains the queue. */
function drainNextTime(link: GatewayLink): void {
  const { state } = link;
  if (state.phase === 'connected') link.state = { ...state, isDraining: true };
}

function decode(bytes: Buffer, state: LinkState, maximumPacketSize: number): readonly (Packet | Violation)[] {
  const protocolVersion = versionOf(state);
  const decoder = new PacketDecoder({
    maximumPacketSize,
    ...(protocolVersion !== undefined && { protocolVersion }),
  });
  const packets = decoder.push(bytes);
  if (!decoder.isWithinPacket) return packets;
  return [...packets, new Violation(ReasonCode.MalformedPacket, 'the frame ends within a packet')];
}

function versionOf(state: LinkState): ProtocolVersion | undefined {
  if (state.phase === 'connected') return state.connection.protocolVersion;
  return state.phase === 'authenticating' ? state.connect.protocolVersion : undefined;
}

function isSubscribe(packet: Packet | Violation): boolean {
  return !(packet instanceof Violation) && packet.type === 'subscribe';
}
