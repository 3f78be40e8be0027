import { type Identity, reasonOf, Unavailable } from '@apus/broker';
import { peerHostOf } from '@apus/identity';
import { type ConnectPacket, encodePacket, type Packet, PacketDecoder, Violation } from '@apus/mqtt';
import { GatewayLink } from '../connections/gateway-link.ts';
import type { Environment } from '../environment.ts';
import type { ConnectEvent, ProxyResult } from '../events/gateway.ts';
import {
  type OfferedConnect,
  SUBPROTOCOL_ACCEPTED,
  SUBPROTOCOL_HANDLED,
} from '../handshake/offered-connect.ts';
import { Outbox } from '../outbox.ts';
import { contentsOf } from '../quotas/frame-contents.ts';
import { senderOf } from '../quotas/sender.ts';
import { tenantOf } from '../usage/event-usage.ts';
import { agreedWith } from './agreement.ts';
import { bytesOf } from './frame.ts';
import { ORDINARY_CONNACK } from './text-frame.ts';

/** The answer does not say how far the CONNECT came: the client comes back and sends it again. */
const UNAVAILABLE: ProxyResult = { statusCode: 503, body: 'Unavailable for a moment. Try again later.' };

const OVER: ProxyResult = { statusCode: 410, body: 'The connection is over.' };

/** The sender has used up its frames. */
const TOO_MANY: ProxyResult = {
  statusCode: 429,
  body: 'This identity has sent more than its quotas allow. Come back in some seconds.',
};

/** A CONNECT in the handshake, and its sender. */
export interface Offer {
  readonly connect: OfferedConnect;
  /** The identity that the handshake has shown. */
  readonly identity: Identity | undefined;
}

/**
 * `$connect` handles a CONNECT as `$default` would (docs/text-frames.md, section 15). Undefined: nothing was done, and
 * the client has to send it as a frame. A CONNECT that has to be refused is refused there.
 *
 * A post to this connection would be answered 410 until the handshake is over, and its session would count as lost. So
 * only a new session is opened here: it has no subscription, so no message can be for it.
 *
 * The handshake may still fail after this. Then the session is attached to a connection that was never opened. The
 * client comes back and takes the session over, or the sweep finds the connection gone. It leaves no will: a CONNECT
 * with a will goes as a frame.
 */
export async function connectInHandshake(
  environment: Environment,
  event: ConnectEvent,
  { connect, identity }: Offer,
): Promise<ProxyResult | undefined> {
  const { connectionId, identity: source } = event.requestContext;
  const packet = onlyConnectIn(connect.bytes, environment.maximumPacketSize);
  if (packet === undefined || !packet.cleanStart || packet.will !== undefined) return undefined;
  const outbox = new Outbox(environment, { connectionId, looksAtEnd: true });
  try {
    const tenant = environment.defaultTenant;
    await outbox.stores?.readAhead({ connectionId, tenant, topicNames: [] });
    const before = await outbox.links.load(connectionId);
    // The event was delivered twice, but there is one client: it gets the first answer, or it comes back.
    if (before !== undefined) return OVER;
    const host = peerHostOf(source?.sourceIp);
    const peer = {
      address: source?.sourceIp ?? 'unknown',
      ...(host !== undefined && { host }),
      ...(identity !== undefined && { identity }),
    };
    const state = { phase: 'new', ...(identity !== undefined && { identity }) } as const;
    const link = new GatewayLink(connectionId, peer, state, outbox.reply, connect.extensions);
    if (!(await isPaidFor(environment, link, connect.bytes))) return TOO_MANY;
    await outbox.broker.receive(link, packet);
    outbox.usage?.isOf(tenantOf(link.state));
    await outbox.commit();
    if (link.state.phase !== 'connected' || link.endedBy !== undefined) return undefined;
    return await accept(environment, outbox, link, connect);
  } catch (error) {
    await outbox.abandon();
    if (!(error instanceof Unavailable)) throw error;
    environment.log.warn('handshake-unavailable', { connectionId, reason: reasonOf(error) });
    return UNAVAILABLE;
  } finally {
    outbox.usage?.handOver();
  }
}

/** The CONNECT, if the bytes hold nothing else. */
function onlyConnectIn(bytes: Buffer, maximumPacketSize: number): ConnectPacket | undefined {
  const decoder = new PacketDecoder({ maximumPacketSize });
  const [packet, ...others] = decoder.push(bytes);
  const isWhole = !decoder.isWithinPacket && others.length === 0;
  if (!isWhole || packet === undefined || packet instanceof Violation) return undefined;
  return packet.type === 'connect' ? packet : undefined;
}

async function isPaidFor(
  { frameQuota, defaultTenant }: Environment,
  { id, state, peer }: GatewayLink,
  bytes: Buffer,
): Promise<boolean> {
  if (frameQuota === undefined) return true;
  const sender = senderOf(state, peer, defaultTenant);
  return (await frameQuota.take(sender, id, contentsOf(bytes, state))) === undefined;
}

/** Saves the agreement, and the packets for the first reply. */
async function accept(
  environment: Environment,
  outbox: Outbox,
  link: GatewayLink,
  { secret, extensions }: OfferedConnect,
): Promise<ProxyResult> {
  const { state } = link;
  if (state.phase !== 'connected') return OVER;
  const { protocolVersion, authenticationMethod } = state.connection;
  const [connack, ...others] = link.out.take();
  const ordinary = encodePacket(ordinaryConnack(protocolVersion, authenticationMethod), protocolVersion);
  const isOrdinary =
    others.length === 0 && connack !== undefined && Buffer.compare(connack.bytes, ordinary) === 0;
  const waiting = connack === undefined || isOrdinary ? [] : [connack, ...others];
  const ticket = { connectionId: link.id, secret };
  link.state = {
    ...agreedWith(environment, state, extensions, ticket),
    agreed: extensions,
    ...(waiting.length > 0 && { waiting: Buffer.from(bytesOf(waiting)).toString('base64') }),
  };
  if (!(await outbox.links.save(link.id, link.state))) {
    await outbox.broker.lost(link, 'ended while its handshake was handled');
    await outbox.commit();
    return OVER;
  }
  const chosen = isOrdinary ? SUBPROTOCOL_ACCEPTED : SUBPROTOCOL_HANDLED;
  return { statusCode: 200, headers: { 'Sec-WebSocket-Protocol': chosen } };
}

function ordinaryConnack(protocolVersion: number, authenticationMethod: string | undefined): Packet {
  const properties = {
    ...ORDINARY_CONNACK,
    ...(authenticationMethod !== undefined && { authenticationMethod }),
  };
  return {
    type: 'connack',
    sessionPresent: false,
    reasonCode: 0,
    properties: protocolVersion < 5 ? {} : properties,
  };
}
