import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { WebSocket } from 'ws';
import { newFolder, startWorkerd } from '../test/object/start-workerd.ts';

/** A broker in a process of its own. */
export interface Broker {
  readonly name: 'node' | 'object' | 'bare';
  readonly url: string;
  /** Processor time of all of its threads, in us. */
  cpuUs(): number;
  stop(): Promise<void>;
}

export interface ObjectBroker extends Broker {
  /** The object loses its memory, and its sockets stay. */
  hibernate(): Promise<void>;
  /** Bytes of JavaScript's heap, after a collection. */
  heapBytes(): Promise<number>;
  profile(work: () => Promise<unknown>): Promise<readonly string[]>;
}

export async function startNodeBroker(): Promise<Broker> {
  const child = fork(process.env.APUS_NODE_BROKER ?? '', { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [url] = (await once(child, 'message')) as [string];
  return { name: 'node', url, cpuUs: () => cpuUsOf(child.pid ?? 0), stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** `workerd` with an object that only passes frames on: see `BareHub`. */
export async function startBareBroker(): Promise<Broker> {
  const folder = newFolder();
  const entry = { file: process.env.APUS_BARE_WORKER ?? '', hub: 'BareHub' };
  const { port, pid, kill } = await startWorkerd(1, folder, entry);
  const stop = async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };
  return { name: 'bare', url: `ws://127.0.0.1:${port}/mqtt`, cpuUs: () => cpuUsOf(pid), stop };
}

const PROFILED_FUNCTIONS = 60;

let hubs = 0;

/** @param isInspected for `heapBytes` and `profile` */
export async function startObjectBroker(isInspected = false): Promise<ObjectBroker> {
  const folder = newFolder();
  const { port, pid, inspectorPort, kill } = await startWorkerd(1, folder, undefined, isInspected);
  hubs += 1;
  const base = `127.0.0.1:${port}/hub-${hubs}`;
  return {
    name: 'object',
    url: `ws://${base}/mqtt`,
    cpuUs: () => cpuUsOf(pid),
    hibernate: async () => void (await (await fetch(`http://${base}/evict`)).text()),
    heapBytes: () => heapBytesOf(inspectorPort ?? 0),
    profile: (work) => profileOf(inspectorPort ?? 0, work),
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Linux counts the time of a thread in ns, and that of a process in ticks of 10 ms alone. */
function cpuUsOf(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // The thread has ended meanwhile.
    }
  }
  return ns / 1_000;
}

type Ask = (method: string) => Promise<Readonly<Record<string, unknown>>>;

/** Lets Chrome's protocol of developer tools be spoken. */
async function inspect<T>(inspectorPort: number, use: (ask: Ask) => Promise<T>): Promise<T> {
  const listed = await (await fetch(`http://127.0.0.1:${inspectorPort}/json/list`)).json();
  const [{ webSocketDebuggerUrl } = { webSocketDebuggerUrl: '' }] = listed as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(webSocketDebuggerUrl);
  await once(socket, 'open');
  let asked = 0;
  const answer = await use(async (method) => {
    asked += 1;
    socket.send(JSON.stringify({ id: asked, method }));
    for (;;) {
      const [data] = (await once(socket, 'message')) as [Buffer];
      const { id, result = {} } = JSON.parse(String(data)) as {
        id?: number;
        result?: Record<string, unknown>;
      };
      if (id === asked) return result;
    }
  });
  socket.close();
  return answer;
}

function heapBytesOf(inspectorPort: number): Promise<number> {
  return inspect(inspectorPort, async (ask) => {
    await ask('HeapProfiler.enable');
    await ask('HeapProfiler.collectGarbage');
    return Number((await ask('Runtime.getHeapUsage')).usedSize);
  });
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string };
  readonly children?: readonly number[];
}

/** The functions that take the most samples, themselves and with all that they call, with their shares. */
function profileOf(inspectorPort: number, work: () => Promise<unknown>): Promise<readonly string[]> {
  return inspect(inspectorPort, async (ask) => {
    await ask('Profiler.enable');
    await ask('Profiler.start');
    await work();
    const { nodes, samples } = (await ask('Profiler.stop')).profile as {
      readonly nodes: readonly ProfileNode[];
      readonly samples: readonly number[];
    };
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const [own, whole] = [new Map<number, number>(), new Map<string, number>()];
    for (const id of samples) own.set(id, (own.get(id) ?? 0) + 1);
    const itself = new Map<string, number>();
    const add = (counts: Map<string, number>, name: string, count: number) =>
      counts.set(name, (counts.get(name) ?? 0) + count);
    const visit = (id: number, above: ReadonlySet<string>): number => {
      const { callFrame, children = [] } = byId.get(id) as ProfileNode;
      const name = callFrame.functionName || '(anonymous)';
      const path = new Set([...above, name]);
      let count = own.get(id) ?? 0;
      add(itself, name, count);
      for (const child of children) count += visit(child, path);
      if (!above.has(name)) add(whole, name, count);
      return count;
    };
    visit(nodes[0]?.id ?? 0, new Set());
    return [...whole]
      .sort(([, one], [, other]) => other - one)
      .slice(0, PROFILED_FUNCTIONS)
      .map(([name, count]) => {
        const share = (samplesOf: number) => ((samplesOf * 100) / samples.length).toFixed(1).padStart(5);
        return `${share(count)} % ${share(itself.get(name) ?? 0)} % ${name}`;
      });
  });
}
