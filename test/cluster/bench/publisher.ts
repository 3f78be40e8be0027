// Measures one publisher at QoS 1 that keeps 100 messages unacknowledged, in a cluster of two processes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { PacketReader, placesOf } from '../../../loadtest/src/generator/packet-reader.ts';
import {
  acknowledgement,
  connectPacket,
  PacketType,
  publishTemplate,
  subscribePacket,
} from '../../../loadtest/src/generator/packets.ts';
import { cpuSecondsOf, end, endEngine, startEngine, startMember } from './processes.ts';

const TOPIC = 'p/one';
const WINDOW = 100;
const PAYLOAD_BYTES = 256;
const QUIET_MS = 1_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    sync: { type: 'string', default: 'everysec,always' },
    node: { type: 'string', default: '' },
    shapes: { type: 'string' },
  },
});
const [path = ''] = positionals;
if (path === '') {
  console.error('node test/cluster/bench/run.mjs publisher APUS_JS [--seconds 5] [--sync everysec,always]');
  process.exit(2);
}

/** Whose subscriber gets the messages. */
const SHAPES = ['no subscriber', 'at the other process', 'persistent, there', 'persistent, here', 'stream'];

/** A client over WebSocket, which acknowledges what it is sent. */
class Client {
  readonly #socket: WebSocket;
  readonly #reader = new PacketReader();
  readonly received: number[] = [];
  acknowledged: number[] = [];
  onAcknowledged = (): void => {};
  #answered = (): void => {};

  constructor(url: string) {
    this.#socket = new WebSocket(url, 'mqtt', { perMessageDeflate: false });
  }

  async connect(clientId: string, sessionExpirySeconds: number): Promise<void> {
    await new Promise((resolve, reject) => {
      this.#socket.once('open', resolve);
      this.#socket.once('error', reject);
    });
    this.#socket.on('message', (data: Buffer) => this.#take(data));
    const fields = {
      version: '5',
      clientId,
      cleanStart: true,
      keepAliveSeconds: 0,
      sessionExpirySeconds,
    } as const;
    await this.#ask(connectPacket(fields));
  }

  async subscribe(filter: string): Promise<void> {
    await this.#ask(subscribePacket('5', 1, [filter], 1));
  }

  send(bytes: Buffer): void {
    this.#socket.send(bytes);
  }

  close(): void {
    this.#socket.terminate();
  }

  #ask(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.send(bytes);
    });
  }

  #take(data: Buffer): void {
    const acknowledgements: Buffer[] = [];
    for (const packet of this.#reader.push(data)) {
      const { type, bytes, bodyAt } = packet;
      if (type === PacketType.PUBACK) this.acknowledged.push(bytes.readUInt16BE(bodyAt));
      else if (type === PacketType.PUBLISH) {
        const { qos, packetId, payloadAt } = placesOf(packet, true);
        this.received.push(bytes.readUInt32BE(payloadAt));
        if (qos === 1) acknowledgements.push(acknowledgement(PacketType.PUBACK, packetId));
      } else this.#answered();
    }
    if (acknowledgements.length > 0) this.send(Buffer.concat(acknowledgements));
    if (this.acknowledged.length > 0) this.onAcknowledged();
  }
}

/** Publishes for some seconds. Returns how many messages were acknowledged, and whether in their order. */
async function publishFor(publisher: Client, seconds: number) {
  const { bytes, packetIdAt = 0, payloadAt } = publishTemplate('5', TOPIC, 1, PAYLOAD_BYTES);
  const endMs = performance.now() + seconds * 1000;
  const sentAtMs: number[] = [];
  const delays: number[] = [];
  let [sent, answered, isOrdered] = [0, 0, true];
  const next = (): void => {
    const burst: Buffer[] = [];
    while (sent - answered < WINDOW && performance.now() < endMs) {
      const packet = Buffer.from(bytes);
      packet.writeUInt16BE((sent % 0xffff) + 1, packetIdAt);
      packet.writeUInt32BE(sent, payloadAt);
      sentAtMs.push(performance.now());
      burst.push(packet);
      sent += 1;
    }
    if (burst.length > 0) publisher.send(Buffer.concat(burst));
  };
  await new Promise<void>((resolve) => {
    publisher.onAcknowledged = () => {
      for (const packetId of publisher.acknowledged.splice(0)) {
        if (packetId !== (answered % 0xffff) + 1) isOrdered = false;
        delays.push(performance.now() - (sentAtMs[answered] ?? 0));
        answered += 1;
      }
      next();
      if (answered === sent) resolve();
    };
    next();
  });
  delays.sort((one, other) => one - other);
  return { answered, isOrdered, p99: delays[Math.floor(delays.length * 0.99)] ?? 0 };
}

async function measure(sync: string, shape: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-bench-publisher-'));
  const streams = join(directory, 'streams.json');
  writeFileSync(streams, JSON.stringify({ streams: [{ name: 'p', topicFilter: 'p/#' }] }));
  const command = { path, nodeFlags: values.node.split(' ').filter(Boolean) };
  const engine = await startEngine(sync);
  const flags = ['--cluster', engine.url, ...(shape === 'stream' ? ['--streams', streams] : [])];
  const members = [await startMember(command, flags), await startMember(command, flags)] as const;
  const [here, there] = [new Client(members[0].url), new Client(members[1].url)];
  const local = new Client(members[0].url);
  try {
    await Promise.all([
      here.connect('publisher', 0),
      there.connect('there', shape.startsWith('persistent') ? 300 : 0),
      local.connect('here', 300),
    ]);
    const subscriber = shape === 'persistent, here' ? local : there;
    if (shape !== 'no subscriber') await subscriber.subscribe(TOPIC);
    await publishFor(here, 1);
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    subscriber.received.length = 0;
    const use = () =>
      [members[0].child, members[1].child, engine.child].map((child) => cpuSecondsOf([child]));
    const before = use();
    const { answered, isOrdered, p99 } = await publishFor(here, Number(values.seconds));
    const cpu = use().map((after, index) => ((after - (before[index] ?? 0)) * 1e6) / answered);
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const { received } = subscriber;
    const isReceived = received.length === answered && received.every((number, index) => number === index);
    const order = `${isOrdered ? 'in order' : 'NOT IN ORDER'}, ${shape === 'no subscriber' ? '–' : isReceived ? 'all in order' : `${received.length} RECEIVED`}`;
    const perSecond = Math.round(answered / Number(values.seconds)).toLocaleString('en');
    console.log(
      `| ${sync} | ${shape} | ${perSecond} | ${p99.toFixed(1)} | ${cpu.map((micros) => micros.toFixed(0)).join(', ')} | ${order} |`,
    );
  } finally {
    for (const client of [here, there, local]) client.close();
    await end(
      members.map(({ child }) => child),
      'SIGTERM',
    );
    await endEngine(engine);
    rmSync(directory, { recursive: true });
  }
}

console.log(
  '| engine | subscriber | acknowledged a second | p99 ms | CPU µs for each: its process, the other, the engine | PUBACKs, messages |',
);
console.log('|---|---|--:|--:|--:|---|');
for (const sync of values.sync.split(','))
  for (const shape of values.shapes?.split(';') ?? SHAPES) await measure(sync, shape);
