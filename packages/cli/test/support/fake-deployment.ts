import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { encodePacket, type Packet, PacketDecoder, type Will } from '@apus/mqtt';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

/** The faults of the deployment. */
export interface Faults {
  /** Every other post overtakes the one before it. */
  readonly swapsPosts?: boolean;
  readonly losesPosts?: boolean;
  /** The function answers a frame that wants no reply with an empty message. */
  readonly sendsEmptyReplies?: boolean;
  /** `$disconnect` arrives before DISCONNECT. */
  readonly overlaps?: boolean;
  /** Every SUBSCRIBE is refused. */
  readonly refusesSubscriptions?: boolean;
  /** The gateway cuts connections that send a ping. */
  readonly cutsAtPing?: boolean;
  /** The server takes signs of life, and answers with this. */
  readonly answersSignsOfLife?: string;
  /** A sign of life does not keep the connection open: the gateway cuts it at the second one. */
  readonly cutsAtSignOfLife?: boolean;
  /** The first post after a move is lost, or comes after some later ones. */
  readonly postsAtCut?: 'lost' | 'late';
  /** No fault: the packets of a reply come in a part, alternately before and behind its frame. */
  readonly repliesInParts?: boolean;
}

interface Client {
  socket: WebSocket;
  /** The session has just moved. */
  hasMoved?: boolean;
  signsOfLife?: number;
  ticket?: string | undefined;
  late?: { readonly posts: readonly string[]; after: number } | undefined;
  isConnected?: boolean;
  filter?: string;
  will?: Will | undefined;
}

/** The connection that moves, and the seconds until it is cut. */
const TICKET = 'ticket,7200';

/** A late post comes behind this many others: one of three publishers has published again by then. */
const LATE_POSTS = 4;

/** The part of the gateway door that the probe uses, with faults. */
export async function startFakeDeployment(faults: Faults = {}): Promise<string> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    handleProtocols: ([first]) => first ?? false,
  });
  const clients = new Set<Client>();
  const held: string[] = [];
  server.on('connection', (socket) => {
    let client: Client = { socket };
    clients.add(client);
    socket.on('message', (data) => {
      const text = String(data);
      if (text.startsWith('~')) client = move(client, text.slice(1));
      else if (text.startsWith('{')) live(client);
      else handle(client, text);
    });
    socket.on('ping', () => faults.cutsAtPing && socket.close(1001, 'Going away'));
    socket.on('close', () => {
      if (client.socket !== socket) return;
      clients.delete(client);
      const { will } = client;
      if (will !== undefined) deliver(will.topic, will.payload);
    });
  });
  await once(server, 'listening');
  onTestFinished(() => {
    for (const { socket } of clients) socket.terminate();
    server.close();
  });

  /** Moves the session of the client with this ticket to the connection of another client. */
  function move(fresh: Client, ticket: string): Client {
    const moved = [...clients].find((each) => each.ticket === ticket);
    if (moved === undefined) throw new Error(`there is no ticket ${ticket}`);
    clients.delete(fresh);
    moved.socket.close(1000);
    Object.assign(moved, { socket: fresh.socket, hasMoved: true });
    moved.socket.send(`~${TICKET}:`);
    return moved;
  }

  function live(client: Client): void {
    client.signsOfLife = (client.signsOfLife ?? 0) + 1;
    if (faults.answersSignsOfLife !== undefined) client.socket.send(faults.answersSignsOfLife);
    if (faults.cutsAtSignOfLife && client.signsOfLife === 2) client.socket.close(1001, 'Going away');
  }

  function handle(client: Client, frame: string): void {
    const [offer = ''] = /^\([a-z,]*\)/.exec(frame) ?? [];
    const text = frame.slice(offer.length);
    if (offer.startsWith('(move')) [client.ticket] = TICKET.split(',');
    const wantsReply = !text.startsWith(',');
    const version = client.isConnected === true ? { protocolVersion: 5 as const } : {};
    const decoder = new PacketDecoder({ role: 'server', maximumPacketSize: 131_072, ...version });
    const bytes = Buffer.from(wantsReply ? text : text.slice(1), 'base64');
    const replies = decoder.push(bytes).flatMap((each) => ('type' in each ? answer(client, each) : []));
    if (wantsReply) reply(client, Buffer.concat(replies).toString('base64'), offer);
    else if (faults.sendsEmptyReplies) client.socket.send('');
  }

  let repliesSent = 0;
  function reply({ socket }: Client, base64: string, agreed: string): void {
    repliesSent += 1;
    const moves = agreed.startsWith('(move') ? `~${TICKET}` : '';
    const isInParts = faults.repliesInParts === true && base64 !== '';
    const frames = isInParts ? [`&${base64}`, `${agreed}*1${moves}:`] : [`${agreed}${moves}:${base64}`];
    for (const frame of repliesSent % 2 === 0 ? frames : frames.reverse()) socket.send(frame);
  }

  function answer(client: Client, packet: Packet): Uint8Array[] {
    const properties = {};
    switch (packet.type) {
      case 'connect':
        client.isConnected = true;
        client.will = packet.will;
        return [encodePacket({ type: 'connack', sessionPresent: false, reasonCode: 0, properties }, 5)];
      case 'subscribe':
        client.filter = packet.subscriptions[0]?.topicFilter ?? '';
        return [
          encodePacket(
            {
              type: 'suback',
              packetId: packet.packetId,
              reasonCodes: [faults.refusesSubscriptions ? 0x87 : 1],
              properties,
            },
            5,
          ),
        ];
      case 'publish':
        deliver(packet.topic, packet.payload);
        if (packet.qos === 0) return [];
        return [encodePacket({ type: 'puback', packetId: packet.packetId, reasonCode: 0, properties }, 5)];
      case 'pingreq':
        if (faults.cutsAtPing) client.socket.close(1012, 'Service restart');
        return [encodePacket({ type: 'pingresp' }, 5)];
      case 'disconnect':
        if (!faults.overlaps) client.will = undefined;
        return [];
      default:
        return [];
    }
  }

  function deliver(topic: string, payload: Uint8Array): void {
    const packet = encodePacket(
      { type: 'publish', topic, payload, qos: 0, retain: false, dup: false, packetId: 0, properties: {} },
      5,
    );
    const text = Buffer.from(packet).toString('base64');
    const posts =
      faults.losesPosts && held.push(text) % 2 === 0 ? [] : faults.swapsPosts ? swapped(text) : [text];
    for (const client of clients) {
      if (client.filter !== topic) continue;
      const isAtCut = faults.postsAtCut !== undefined && client.hasMoved === true;
      client.hasMoved = false;
      if (isAtCut) client.late = faults.postsAtCut === 'late' ? { posts, after: LATE_POSTS } : undefined;
      else for (const post of [...posts, ...lateOf(client)]) client.socket.send(post);
    }
  }

  function lateOf({ late }: Client): readonly string[] {
    if (late === undefined) return [];
    late.after -= 1;
    return late.after === 0 ? late.posts : [];
  }

  function swapped(text: string): string[] {
    const before = held.pop();
    if (before !== undefined) return [text, before];
    held.push(text);
    return [];
  }

  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mqtt`;
}
