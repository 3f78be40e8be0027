import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, it } from 'vitest';
import { freePort } from '../support/free-port.ts';

const VERSION = '4.4.0';
/** Below node_modules, which is in no commit, and which a clean-up removes. */
const LIBRARIES = fileURLToPath(new URL(`../../node_modules/.cache/apus/kafka-${VERSION}`, import.meta.url));
const START_MS_MAX = 90_000;
const INSTALL_MS_MAX = 300_000;
const POLL_MS = 100;
const CLUSTER_ID = 'apusTestClusterAAAAAAA';

/** A broker of Apache Kafka, which is its own controller, on the loopback. */
export interface Kafka {
  readonly address: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/**
 * One Kafka for the tests of a file. Undefined where it cannot be started: then a skipped test says why, because a
 * developer without Java can still work on the rest. In CI that fails.
 */
export async function kafkaOrSkip(): Promise<Kafka | undefined> {
  try {
    await install();
    const kafka = await launchable();
    await kafka.start();
    afterAll(() => kafka.kill());
    return kafka;
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    it.skip(`needs Kafka, which could not be started (Java 17 and Maven): ${error}`, () => {});
    return undefined;
  }
}

/** From Maven Central, by Maven, once. */
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

async function launchable(): Promise<Kafka> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-kafka-'));
  const [port, controllerPort] = [await freePort(), await freePort()];
  const file = join(directory, 'server.properties');
  writeFileSync(file, propertiesOf(directory, port, controllerPort));
  await promisify(execFile)('java', java('kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', file));
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

function propertiesOf(directory: string, port: number, controllerPort: number): string {
  const lines = [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names=CONTROLLER',
    `log.dirs=${join(directory, 'data')}`,
    // One broker has one copy of everything.
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    'auto.create.topics.enable=false',
    // Records of 10 MB are for the tests of bad input.
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
