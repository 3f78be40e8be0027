import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const VERSION = '4.4.0';
/** Below node_modules of the repository, in which npm and the tests run: in no commit, and removed by a clean-up. */
const LIBRARIES = resolve('node_modules', '.cache', 'apus', `kafka-${VERSION}`);
const START_MS_MAX = 90_000;
const INSTALL_MS_MAX = 300_000;
const POLL_MS = 100;
const CLUSTER_ID = 'apusTestClusterAAAAAAA';

/** A broker of Apache Kafka, which is its own controller, on loopback. */
export interface Kafka {
  readonly address: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** How the broker protects its listener. */
export interface KafkaSecurity {
  /** A security protocol of Kafka. */
  readonly listener: 'PLAINTEXT' | 'SSL' | 'SASL_SSL';
  /** Lines of `server.properties`. */
  readonly properties: readonly string[];
  /** Arguments of the command that formats its storage, which also creates the users of SCRAM. */
  readonly formatArguments: readonly string[];
}

/** Installs Kafka if it is missing, and prepares a separate directory. `start` starts it. */
export async function makeKafka(security?: KafkaSecurity): Promise<Kafka> {
  await install();
  return await launchable(security);
}

/** From Maven Central, by Maven, only once. */
async function install(): Promise<void> {
  if (existsSync(LIBRARIES)) return;
  const folder = `${LIBRARIES}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pom.xml'), POM);
  const args = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'];
  await promisify(execFile)('mvn', args, { cwd: folder, timeout: INSTALL_MS_MAX });
  try {
    renameSync(folder, LIBRARIES);
  } catch (error) {
    // Another test has done the same meanwhile.
    rmSync(folder, { recursive: true });
    if (!existsSync(LIBRARIES)) throw error;
  }
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>apus.test</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;

async function launchable(security: KafkaSecurity | undefined): Promise<Kafka> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-kafka-'));
  const [port, controllerPort] = [await freePort(), await freePort()];
  const file = join(directory, 'server.properties');
  writeFileSync(file, propertiesOf(directory, port, controllerPort, security));
  const format = ['format', '-t', CLUSTER_ID, '-c', file, ...(security?.formatArguments ?? [])];
  await promisify(execFile)('java', java('kafka.tools.StorageTool', ...format));
  let child: ChildProcess | undefined;
  process.once('exit', () => {
    child?.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    address: `127.0.0.1:${port}`,
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async start() {
      child = spawn('java', java('kafka.Kafka', file), { stdio: 'ignore' });
      await untilListening(port, child);
    },
  };
}

function java(program: string, ...args: readonly string[]): string[] {
  return [
    '-Xmx512m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    join(LIBRARIES, 'lib', '*'),
    program,
    ...args,
  ];
}

function propertiesOf(
  directory: string,
  port: number,
  controllerPort: number,
  { listener = 'PLAINTEXT', properties = [] }: Partial<KafkaSecurity> = {},
): string {
  const lines = [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
    `listeners=${listener}://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `advertised.listeners=${listener}://127.0.0.1:${port}`,
    'controller.listener.names=CONTROLLER',
    `listener.security.protocol.map=CONTROLLER:PLAINTEXT,${listener}:${listener}`,
    `inter.broker.listener.name=${listener}`,
    ...properties,
    `log.dirs=${join(directory, 'data')}`,
    // One broker has a single replica of everything.
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    'auto.create.topics.enable=false',
    // Tests of bad input send records of 10 MB.
    'message.max.bytes=12000000',
    'replica.fetch.max.bytes=12000000',
  ];
  return `${lines.join('\n')}\n`;
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + START_MS_MAX;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`Kafka ended with code ${child.exitCode}`);
    if (Date.now() > deadlineMs) throw new Error(`Kafka did not listen within ${START_MS_MAX} ms`);
    const socket = connect(port, '127.0.0.1');
    const isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) return;
    await sleep(POLL_MS);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (typeof address === 'string' || address === null) throw new Error('the server has no port');
  return address.port;
}
