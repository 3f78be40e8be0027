import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'iovalkey';
import { freePort } from './free-port.ts';
import { end, launch } from './program.ts';

const READY_MS_MAX = 30_000;
const POLL_MS = 50;
/** Offset of the port between the engine's nodes. */
const BUS_PORT_OFFSET = 10_000;

/** The permissions that infra/lib/cluster/engine.ts grants: Apus's keys, and no administrative commands. */
export const ENGINE_RIGHTS = 'on ~{apus}:* &* +@all -@admin -@dangerous +info';

export interface ClusterModeEngine {
  /** The address of the replica, for a user with few rights. */
  readonly replicaUrl: string;
  readonly primaryUrl: string;
  /** Promotes the replica to primary. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** An engine in cluster mode, like MemoryDB: one shard with a primary and a replica, on loopback. */
export async function startClusterModeEngine(program = ''): Promise<ClusterModeEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-engines-'));
  const [password, rootPassword] = [randomBytes(18).toString('hex'), randomBytes(18).toString('hex')];
  const nodes = [await startNode('one'), await startNode('two')] as const;
  const [primary, replica] = nodes;

  async function startNode(name: string) {
    const port = await freePort(BUS_PORT_OFFSET);
    const file = join(directory, `${name}.conf`);
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${directory}`,
      'cluster-enabled yes',
      `cluster-config-file ${name}.nodes`,
      'cluster-node-timeout 2000',
      'appendonly yes',
      `appenddirname ${name}`,
      'save ""',
      'loglevel warning',
      'user default off',
      `user apus ${ENGINE_RIGHTS} >${password}`,
      `user root on ~* &* +@all >${rootPassword}`,
      'masteruser root',
      `masterauth ${rootPassword}`,
    ];
    writeFileSync(file, lines.join('\n'), { mode: 0o600 });
    const child = await launch(program, [file], port);
    const client = new Redis({ port, username: 'root', password: rootPassword });
    client.on('error', () => {});
    return { port, child, client, url: `redis://apus:${password}@127.0.0.1:${port}` };
  }

  await primary.client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await replica.client.call('CLUSTER', 'MEET', '127.0.0.1', String(primary.port));
  const id = String(await primary.client.cluster('MYID'));
  await until(async () => String(await replica.client.cluster('NODES')).includes(id));
  await until(async () => (await replica.client.call('CLUSTER', 'REPLICATE', id)) === 'OK');
  await until(async () => (await replica.client.info()).includes('master_link_status:up'));
  await until(async () => String(await primary.client.cluster('INFO')).includes('cluster_state:ok'));
  await until(async () => String(await replica.client.cluster('INFO')).includes('cluster_state:ok'));
  return {
    primaryUrl: primary.url,
    replicaUrl: replica.url,
    async failOver() {
      await replica.client.call('CLUSTER', 'FAILOVER');
      await until(async () => (await replica.client.info()).includes('role:master'));
      await until(async () => (await primary.client.info()).includes('role:slave'));
    },
    async stop() {
      for (const { client } of nodes) client.disconnect();
      for (const { child } of nodes) await end(child, 'SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + READY_MS_MAX;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadlineMs) throw new Error('the engine does not get ready');
    await sleep(POLL_MS);
  }
}
