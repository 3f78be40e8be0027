import { billOf, estimate, NODE_DOOR, programBids, programsText } from '@apus/cost';
import { describe, expect, test } from 'vitest';
import { Built } from './support/built.ts';
import { runInThisProcess } from './support/in-this-process.ts';
import { temporaryFile } from './support/temporary-file.ts';

const apus = new Built();

const WORKLOAD = { clients: 1_000, hours: 8, publishesPerHour: 60, fanOut: 10, qos: 1, bytes: 200 } as const;
const FLAGS = ['--clients', '1000', '--hours', '8', '--publishes-per-hour', '60'];
const MORE_FLAGS = ['--fan-out', '10', '--qos', '1', '--bytes', '200'];

const file = (content: string) => temporaryFile('workload.json', content);

describe('apus cost', () => {
  test('prints the bill, the same traffic elsewhere, the largest line and the sources', async () => {
    const { code, stdout, stderr } = await apus.run(['cost', ...FLAGS, ...MORE_FLAGS]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Gateway messages out +158,\d{3},\d{3} +\$1\.00 \/ M +\$158\.\d\d/m);
    expect(stdout).toMatch(/^together +\$\d+\.\d\d$/m);
    expect(stdout).toMatch(/^AWS IoT Core +\$\d+\.\d\d +\$\d+\.\d\d$/m);
    expect(stdout).toMatch(/^AWS AppSync Events +\(\$\d+\.\d\d\) +\$\d+\.\d\d {2}There is no QoS 1/m);
    expect(stdout).toMatch(/The largest line is "Gateway messages out"/);
    expect(stdout).toMatch(/^- List prices of us-east-1, read in 2026-08/m);
  });

  test('prints the estimate of the library as JSON', async () => {
    const { stdout } = await runInThisProcess(['cost', ...FLAGS, ...MORE_FLAGS, '--json']);
    const { bill, workload } = JSON.parse(stdout);
    expect(workload).toMatchObject(WORKLOAD);
    expect(bill).toEqual(billOf(estimate(WORKLOAD).usage));
  });

  test('reads a workload from a file or standard input, and flags override it', async () => {
    const text = JSON.stringify({ ...WORKLOAD, clients: 5 });
    const fromFile = await runInThisProcess(['cost', '--workload', file(text), '--json']);
    expect(JSON.parse(fromFile.stdout).workload.clients).toBe(5);
    const fromInput = await apus.run(['cost', '--workload', '-', '--clients', '7', '--json'], text);
    expect(JSON.parse(fromInput.stdout).workload).toMatchObject({ ...WORKLOAD, clients: 7 });
  });

  test('applies free tiers and the price of a machine on request', async () => {
    const flags = ['cost', '--clients', '10', '--hours', '1', '--json'];
    const plain = JSON.parse((await runInThisProcess(flags)).stdout);
    const free = JSON.parse(
      (await runInThisProcess([...flags, '--free-tiers', '--machine-usd', '5'])).stdout,
    );
    expect(free.bill.usd).toBeLessThan(plain.bill.usd);
    expect(free.nodeDoor.usd).toBe(5);
    expect(plain.nodeDoor.usd).toBe(24);
  });

  test('compare prints six programs at each service, and the size from which each is the cheapest', async () => {
    const { code, stdout, stderr } = await runInThisProcess(['cost', 'compare']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd()).toBe(programsText(programBids()));
    const json = await runInThisProcess(['cost', 'compare', '--machine-usd', '1', '--json']);
    const [news] = JSON.parse(json.stdout);
    expect(news.bids.find(({ service }: { service: string }) => service === NODE_DOOR).usd).toBeLessThan(2);
  });

  test('prices the metered use of a run', async () => {
    const usage = { gatewayMessagesIn: 1_000_000, lambdaRequests: 1_000_000 };
    const { code, stdout } = await runInThisProcess(['cost', '--usage', file(JSON.stringify(usage))]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^together +\$1\.20$/m);
    expect(stdout).toMatch(/The largest line is "Gateway messages in": \$1\.00, 83% of the bill/);
    const wrong = await runInThisProcess(['cost', '--usage', file('{"messages": 1}')]);
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toMatch(/"messages" is no kind of usage/);
  });

  test('prices prints the price book with date and source', async () => {
    const { stdout } = await runInThisProcess(['cost', 'prices']);
    expect(stdout).toMatch(
      /Amazon DynamoDB +Write, on demand .*2026-08 .*https:\/\/aws\.amazon\.com\/dynamodb/,
    );
    const json = JSON.parse((await runInThisProcess(['cost', 'prices', '--json'])).stdout);
    expect(json.gatewayMessage).toMatchObject({ usd: 1, per: 1_000_000, date: '2026-08' });
  });

  test('has a help that names each flag with its default', async () => {
    const { stdout } = await runInThisProcess(['cost', '--help']);
    expect(stdout).toContain('Usage: apus cost');
    expect(stdout).toMatch(/--fan-out NUMBER\n +Recipients of a message\. Default: 1\./);
  });

  test.each<[string[], RegExp]>([
    [['cost'], /needs the number of its clients/],
    [['cost', '--clients', 'many'], /--clients takes a number, not "many"/],
    [['cost', '--clients', '10', '--hours', '25'], /"hours" is a number from 0 to 24, not 25/],
    [['cost', 'salt'], /takes flags, or "prices" or "compare", not "salt"/],
    [['cost', 'prices', 'more'], /takes flags, or "prices"/],
    [['cost', '--clients', '1', '--machine-usd', 'x'], /--machine-usd takes a number above 0/],
  ])('%j is answered with a sentence and exit code 2', async (args, sentence) => {
    const { code, stderr } = await runInThisProcess(args);
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
  });

  test.each<[string, RegExp]>([
    ['{', /is not JSON/],
    ['[]', /should hold an object/],
    ['{"client": 3}', /"client" is no field of a workload/],
  ])('a workload of %j is answered with a sentence', async (content, sentence) => {
    const { code, stderr } = await runInThisProcess(['cost', '--workload', file(content)]);
    expect(stderr).toMatch(sentence);
    expect(code).not.toBe(0);
  });
});
