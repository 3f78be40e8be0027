import { once } from 'node:events';
import { parser as createParser, generate, type Packet } from 'mqtt-packet';
import { WebSocket } from 'ws';

/** Sockets that are opened at a time. */
const OPENING = 200;

/** A client of one room that sends nothing by itself. */
class Client {
  readonly socket: WebSocket;
  publishes = 0;
  #waiting: { readonly cmd: string; readonly done: () => void } | undefined;

  constructor(url: string) {
    this.socket = new WebSocket(url, 'mqtt', { perMessageDeflate: false });
    const parser = createParser({ protocolVersion: 5 });
    parser.on('packet', (packet: Packet) => {
      if (packet.cmd === 'publish') this.publishes += 1;
      if (packet.cmd !== this.#waiting?.cmd) return;
      const { done } = this.#waiting;
      this.#waiting = undefined;
      done();
    });
    this.socket.on('message', (data) => parser.parse(data as Buffer));
  }

  async exchange(packet: Packet, cmd: string): Promise<void> {
    await new Promise<void>((done) => {
      this.#waiting = { cmd, done };
      this.socket.send(generate(packet, { protocolVersion: 5 }));
    });
  }
}

async function opened(url: string, clientId: string): Promise<Client> {
  const client = new Client(url);
  await once(client.socket, 'open');
  const fields = { protocolId: 'MQTT', protocolVersion: 5, clean: true, keepalive: 0 } as const;
  await client.exchange({ cmd: 'connect', clientId, ...fields } as Packet, 'connack');
  return client;
}

interface Order {
  readonly url: string;
  readonly watchers: number;
  readonly members: number;
}

/** Watches a room, lets members join one by one, and says when each watcher has received all changes. */
async function play({ url, watchers, members }: Order): Promise<void> {
  const room = `room-${watchers}`;
  const all: Client[] = [];
  for (let from = 0; from < watchers; from += OPENING) {
    const count = Math.min(OPENING, watchers - from);
    const names = Array.from({ length: count }, (_, index) => `${room}-watcher-${from + index}`);
    all.push(...(await Promise.all(names.map((name) => opened(url, name)))));
  }
  for (const each of all) {
    const subscriptions = [{ topic: `$presence/${room}/+`, qos: 0 as const }];
    await each.exchange({ cmd: 'subscribe', messageId: 1, subscriptions } as Packet, 'suback');
  }
  const joining: Client[] = [];
  for (let index = 0; index < members; index += 1) joining.push(await opened(url, `${room}-member-${index}`));
  process.send?.('ready');
  await new Promise((resolve) => process.once('message', resolve));
  const beganMs = performance.now();
  for (const [index, member] of joining.entries()) {
    const topic = `$presence/${room}/member-${index}`;
    const publish = {
      cmd: 'publish',
      topic,
      payload: 'here',
      qos: 1,
      messageId: 1,
      dup: false,
      retain: false,
    };
    await member.exchange(publish as Packet, 'puback');
  }
  process.send?.({ joinMs: (performance.now() - beganMs) / members });
  while (!all.every(({ publishes }) => publishes >= members))
    await new Promise((resolve) => setTimeout(resolve, 20));
  process.send?.({ toldMs: performance.now() - beganMs });
  for (const { socket } of [...all, ...joining]) socket.terminate();
}

process.once('message', (order: Order) => void play(order).then(() => process.disconnect()));
