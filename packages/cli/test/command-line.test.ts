import { describe, expect, test } from 'vitest';
import { Built } from './support/built.ts';
import { runInThisProcess } from './support/in-this-process.ts';

const apus = new Built();

describe('the command line itself', () => {
  test.each([
    'serve',
    'pub',
    'sub',
    'passwd',
    'user',
    'token',
    'identity',
    'clients',
    'kick',
    'ban',
    'unban',
    'bans',
    'stream',
    'presence',
  ])('`apus %s --help` shows its flags', async (command) => {
    const { code, stdout } = await runInThisProcess([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: apus ${command}`);
    expect(stdout).toContain('--help');
  });

  test('shows the commands with `apus --help`, and the version with `apus --version`', async () => {
    expect((await apus.run(['--help'])).stdout).toMatch(/serve.*pub.*sub.*passwd/s);
    expect((await apus.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('returns its exit code, prints help to standard output, and a sentence to standard error', async () => {
    const help = await apus.run(['pub', '--help']);
    expect(help).toEqual({ code: 0, stdout: expect.stringContaining('Usage: apus pub'), stderr: '' });
    const usage = await apus.run(['pub', '-m', 'x']);
    expect(usage).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^apus: .*needs a topic.*\n$/),
    });
    const failure = await apus.run(['identity', 'check', '/nowhere.json']);
    expect(failure).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^apus: .*ENOENT/) });
  });

  test.each<[string[], RegExp]>([
    [['fly'], /no command "fly"/],
    [['serve', '--wings'], /'--wings'.*apus serve --help/],
    [['serve', 'x'], /only flags, not "x"/],
    [['serve', '--port', '65536'], /--port takes a whole number from 0 to 65535, not "65536"/],
    [['serve', '--receive-maximum', '0'], /--receive-maximum takes a whole number from 1 to 65535, not "0"/],
    [['serve', '--queue-length-max', '1e3'], /--queue-length-max takes a whole number/],
    [['serve', '--log', 'xml'], /--log is one of json, text/],
    [['serve', '--log-level', 'loud'], /--log-level is one of debug, info/],
    [['serve', '--users', 'u', '--allow-anonymous'], /exclude each other/],
    [['pub', '-m', 'x'], /needs a topic/],
    [['pub', '-t', 'a'], /one of -m TEXT, -f FILE and --stdin-lines/],
    [['pub', '-t', 'a/#', '-m', 'x'], /no wildcards/],
    [['pub', '-t', 'a', '-m', 'x', '--user-property', 'a'], /NAME=VALUE/],
    [['pub', '-t', 'a', '-m', 'x', '--mqtt-version', '3.1.1', '--content-type', 'a'], /Only MQTT 5/],
    [['sub'], /needs a topic filter/],
    [['sub', '-t', 'a/#/b'], /#/],
    [['sub', '-t', 'a', '--keep'], /--client-id/],
    [['sub', '-t', 'a', '--rewind', 'all'], /--rewind takes a number of messages/],
    [['sub', '-t', 'a', '--rewind', '5', '--mqtt-version', '3.1.1'], /--rewind needs MQTT 5/],
    [['serve', '--streams', '/nonexistent'], /--streams \/nonexistent: /],
    [['sub', '-t', 'a', '--stream-offset', 'soon'], /--stream-offset takes earliest/],
    [['sub', '-t', 'a', '--stream-position', '7'], /--stream-position takes the stream-position/],
    [['sub', '-t', 'a', '--stream-position', 'e-7', '--mqtt-version', '3.1.1'], /needs MQTT 5/],
    [['sub', '-t', 'a', '--rewind', '5', '--stream-offset', 'latest'], /exclude each other/],
    [['stream'], /takes `list`/],
    [['presence'], /takes the name of one room/],
    [['stream', 'messages'], /the name of a stream/],
    [['stream', 'messages', 'chat', '--limit', '0'], /--limit takes a number from 1 to 1000/],
    [['stream', 'list', '--reverse'], /takes no --reverse/],
    [['sub', '-t', 'a', '-u', 'nowhere'], /--url takes a URL/],
    [['passwd', 'secret'], /asks for the password/],
    [['token'], /needs a name/],
    [['token', '--sub', 'ada', '--expires', '1y'], /up to 30d/],
    [['token', '--sub', 'ada', '--publish', 'a/#/b'], /--publish\[0\]: .*"a\/#\/b"/],
    [['token', '--sub', 'ada', '--rule', 'deny'], /--rule takes JSON/],
    [['token', '--sub', 'ada', '--rule', '{"effect": "deny"}'], /--rules\[0\]\.action has to be one of/],
    [['token', '--sub', 'ada', '--client-id', '%c'], /--client-id\[0\] has to be/],
  ])('%j is answered with a sentence and exit code 2', async (args, sentence) => {
    const { code, stdout, stderr } = await runInThisProcess(args);
    expect(stderr).toMatch(sentence);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });
});
