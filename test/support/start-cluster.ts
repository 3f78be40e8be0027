import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { openCluster } from '@apus/cluster';
import { type NodeOptions, type RunningNode, startNode } from '@apus/node';
import type { Door } from './door.ts';
import { engineOrSkip, startEngine } from './engine-or-skip.ts';

const MEMBERS = 3;

/** Starts one process of a cluster within this process: it shares only the engine with others. */
export async function startMember(
  url: string,
  options: NodeOptions = {},
  clusterOptions: Omit<Parameters<typeof openCluster>[0], 'url'> = {},
): Promise<RunningNode> {
  const joining = openCluster({ url, ...clusterOptions });
  return await startNode({ port: 0, logSink: () => {}, ...options, openCluster: joining });
}

/** Three processes behind a load balancer that spreads connections. */
export async function openClusterDoor(options: NodeOptions): Promise<Door> {
  const engine = await startEngine(engineOrSkip());
  const members: RunningNode[] = [];
  try {
    for (let count = 0; count < MEMBERS; count += 1) members.push(await startMember(engine.url, options));
  } catch (error) {
    await engine.stop();
    throw error;
  }
  const balancer = await Balancer.start(members.map(({ port }) => port));
  return {
    name: 'cluster',
    url: `ws://127.0.0.1:${balancer.port}/mqtt`,
    httpUrl: members[0]?.httpUrl ?? '',
    async stop() {
      for (const member of members) await member.stop();
      balancer.stop();
      await engine.stop();
    },
  };
}

/** Gives each connection to the next process. */
export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #ports: readonly number[];
  #turn = 0;

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      const to = connect({
        port: this.#ports[this.#turn % this.#ports.length] ?? 0,
        host: '127.0.0.1',
        allowHalfOpen: true,
      });
      this.#turn += 1;
      for (const [from, other] of [
        [socket, to],
        [to, socket],
      ] as const) {
        this.#sockets.add(from);
        from.pipe(other);
        from.on('error', () => other.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          if (from.errored !== null || !from.readableEnded) other.destroy();
        });
      }
    });
  }

  static async start(ports: readonly number[]): Promise<Balancer> {
    const balancer = new Balancer(ports);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  /** New connections go to these processes; others stay, as at a load balancer that deregisters a target. */
  use(ports: readonly number[]): void {
    this.#ports = ports;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
