import type { IConnectPacket, IPublishPacket, Packet } from 'mqtt-packet';

type QoS = 0 | 1 | 2;

/** One network connection, whichever its transport is. */
export interface Link {
  version: number;
  session: Session | undefined;
  send(packet: Packet): void;
  close(): void;
}

interface Session {
  readonly subscriptions: Map<string, QoS>;
  readonly unacknowledged: Map<number, Packet>;
  readonly received: Set<number>;
  isClean: boolean;
  link: Link | undefined;
  nextId: number;
}

/** Just enough of a broker to see whether a transport keeps MQTT's promises. */
export class MiniBroker {
  readonly sessions = new Map<string, Session>();
  readonly retained = new Map<string, IPublishPacket>();
  /** All published messages, in the order in which they were accepted. */
  readonly published: { topic: string; payload: string }[] = [];
  readonly keepAlives: number[] = [];
  readonly seen: string[] = [];
  refuseWith = 0;

  handle(link: Link, packet: Packet): void {
    this.seen.push(packet.cmd);
    const { session } = link;
    const messageId = packet.messageId ?? 0;
    switch (packet.cmd) {
      case 'connect':
        this.#connect(link, packet);
        break;
      case 'subscribe':
        for (const { topic, qos } of packet.subscriptions) session?.subscriptions.set(topic, qos);
        link.send({ cmd: 'suback', messageId, granted: packet.subscriptions.map(({ qos }) => qos) });
        for (const { topic } of packet.subscriptions) this.#replay(link, topic);
        break;
      case 'unsubscribe':
        for (const filter of packet.unsubscriptions) session?.subscriptions.delete(filter);
        link.send({ cmd: 'unsuback', messageId, granted: packet.unsubscriptions.map(() => 0) });
        break;
      case 'publish':
        this.#publish(link, packet);
        break;
      case 'pubrel':
        session?.received.delete(messageId);
        link.send({ cmd: 'pubcomp', messageId });
        break;
      case 'pubrec':
        session?.unacknowledged.set(messageId, { cmd: 'pubrel', messageId });
        link.send({ cmd: 'pubrel', messageId });
        break;
      case 'puback':
      case 'pubcomp':
        session?.unacknowledged.delete(messageId);
        break;
      case 'pingreq':
        link.send({ cmd: 'pingresp' });
        break;
      case 'disconnect':
        this.lost(link);
        break;
      default:
        throw new Error(`${packet.cmd} from a client`);
    }
  }

  lost(link: Link): void {
    if (link.session?.link !== link) return;
    link.session.link = undefined;
    if (!link.session.isClean) return;
    for (const [id, session] of this.sessions) if (session === link.session) this.sessions.delete(id);
  }

  #connect(
    link: Link,
    { clientId, clean, keepalive, protocolVersion = 4, properties }: IConnectPacket,
  ): void {
    this.keepAlives.push(keepalive ?? 0);
    link.version = protocolVersion;
    if (this.refuseWith > 0) {
      link.send({
        cmd: 'connack',
        returnCode: this.refuseWith,
        reasonCode: this.refuseWith,
        sessionPresent: false,
      });
      link.close();
      return;
    }
    const old = this.sessions.get(clientId);
    old?.link?.close();
    const present = old !== undefined && clean === false;
    const session = present ? old : newSession();
    session.isClean = protocolVersion === 5 ? !properties?.sessionExpiryInterval : clean !== false;
    session.link = link;
    link.session = session;
    this.sessions.set(clientId, session);
    link.send({ cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: present });
    for (const packet of session.unacknowledged.values()) {
      link.send(packet.cmd === 'publish' ? { ...packet, dup: true } : packet);
    }
  }

  #publish(link: Link, packet: IPublishPacket): void {
    const { qos, messageId = 0 } = packet;
    const isRepeated = qos === 2 && link.session?.received.has(messageId);
    if (qos === 2) link.session?.received.add(messageId);
    if (!isRepeated) this.#route(packet);
    if (qos === 1) link.send({ cmd: 'puback', messageId });
    if (qos === 2) link.send({ cmd: 'pubrec', messageId });
  }

  #route(packet: IPublishPacket): void {
    this.published.push({ topic: packet.topic, payload: packet.payload.toString() });
    if (packet.retain) this.retained.set(packet.topic, packet);
    for (const session of this.sessions.values()) {
      for (const [filter, qos] of session.subscriptions) {
        if (matches(filter, packet.topic)) deliver(session, packet, qos, false);
      }
    }
  }

  #replay(link: Link, filter: string): void {
    for (const [topic, packet] of this.retained) {
      if (matches(filter, topic) && link.session !== undefined) deliver(link.session, packet, 1, true);
    }
  }
}

function deliver(session: Session, packet: IPublishPacket, granted: QoS, retain: boolean): void {
  const qos = Math.min(packet.qos, granted) as QoS;
  const { topic, payload } = packet;
  const out: IPublishPacket = { cmd: 'publish', topic, payload, qos, retain, dup: false };
  if (qos > 0) {
    session.nextId = (session.nextId % 65_535) + 1;
    out.messageId = session.nextId;
    if (!session.isClean || qos === 2) session.unacknowledged.set(session.nextId, out);
  }
  session.link?.send(out);
}

function newSession(): Session {
  return {
    subscriptions: new Map(),
    unacknowledged: new Map(),
    received: new Set(),
    isClean: true,
    link: undefined,
    nextId: 0,
  };
}

/** Supports `#` at the end only. */
function matches(filter: string, topic: string): boolean {
  return filter === topic || (filter.endsWith('#') && topic.startsWith(filter.slice(0, -1)));
}
