import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOrSkip } from '../support/program.ts';
import { type Skip, skipFor } from '../support/skips.ts';

/** Where `.ci/run` puts github.com/eclipse/paho.mqtt.testing; `APUS_PAHO=FOLDER` names another copy. */
const FOLDER = join(
  process.env.APUS_PAHO ?? fileURLToPath(new URL('../../node_modules/.cache/apus/paho', import.meta.url)),
  'interoperability',
);

/**
 * Runs a module whose tests read their settings from its globals, and prints the result of each test. On a busy machine a
 * test that waits half a second for an answer may fail: those that have failed run again, twice at most.
 */
const DRIVER = `
import sys, unittest, logging
sys.path.insert(0, sys.argv[1])
name, port = sys.argv[2], int(sys.argv[3])
m = __import__(name)
prefix = 'client_test5/' if name == 'client_test5' else ''
m.topic_prefix = prefix
m.topics = [prefix + t for t in ('TopicA', 'TopicA/B', 'Topic/C', 'TopicA/C', '/TopicA')]
m.wildtopics = [prefix + t for t in ('TopicA/+', '+/C', '#', '/#', '/+', '+/+', 'TopicA/#')]
m.nosubscribe_topics = ('test/nosubscribe',)
m.host, m.port = '127.0.0.1', port
logging.getLogger().setLevel(logging.ERROR)
passed = set()
class Result(unittest.TextTestResult):
  def addSuccess(self, test):
    super().addSuccess(test)
    passed.add(test._testMethodName)
names = unittest.defaultTestLoader.getTestCaseNames(m.Test)
for attempt in range(3):
  suite = unittest.TestSuite(m.Test(each) for each in names if each not in passed)
  unittest.TextTestRunner(resultclass=Result).run(suite)
for each in names:
  print('RESULT', each, 'passed' if each in passed else 'failed', flush=True)
`;

export const needsPaho: Skip = skipFor(reason());

function reason(): string | undefined {
  if (!existsSync(FOLDER)) return "need paho's suites: .ci/run fetches them, APUS_PAHO=FOLDER names them";
  const python = programOrSkip({
    programs: ['python3'],
    args: ['--version'],
    status: 0,
    reason: 'needs Python',
  });
  return python === undefined ? 'need Python' : undefined;
}

export interface Results {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly output: string;
}

/** paho's suite for this version of MQTT at a broker on this machine. */
export async function runSuite(module: 'client_test' | 'client_test5', port: number): Promise<Results> {
  const child = spawn('python3', ['-c', DRIVER, FOLDER, module, String(port)], { cwd: FOLDER });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  await new Promise((resolve) => child.once('close', resolve));
  const results = [...output.matchAll(/RESULT (\S+) (passed|failed)/g)];
  const named = (result: string) =>
    results.filter(([, , each]) => each === result).map(([, name = '']) => name);
  return { passed: named('passed'), failed: named('failed'), output };
}
