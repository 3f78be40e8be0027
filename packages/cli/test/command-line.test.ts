import { isPassword, parsePasswordHash } from '@apus/identity';
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

  test('takes a password that is UTF-8 alone, up to the end of its line', async () => {
    const refused = await apus.run(['passwd'], Buffer.from('p\xff\n', 'latin1'));
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: 'apus: The first line of standard input is not UTF-8.\n',
    });
    const { stdout } = await apus.run(['passwd'], 'a\rb\u2028c\r\nnext\n');
    const hash = parsePasswordHash(stdout.trim());
    expect(hash && (await isPassword(Buffer.from('a\rb\u2028c'), hash))).toBe(true);
  });

  test.each(['client-id', 'username', 'will-payload'])(
    'refuses a --%s that no string of MQTT holds',
    async (flag) => {
      const pub = ['pub', '-t', 'a', '-m', 'x', '--will-topic', 'w', `--${flag}`, 'é'.repeat(32_768)];
      const { code, stderr } = await runInThisProcess(pub);
      expect(stderr).toContain(`--${flag} takes at most 65535 bytes, not 65536.`);
      expect(code).toBe(2);
    },
  );

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
    [
      ['pub', '-t', 'a', '-m', 'x', '--mqtt-version', '3.1.1', '--content-type', 'a'],
      /--content-type needs MQTT 5/,
    ],
    [['pub', '-h', 'localhost'], /needs a topic/],
    [['pub', '-h'], /-h lacks its HOST.*apus pub --help/],
    [['clients', '-h', 'localhost'], /-h is --help, and takes no "localhost"/],
    [['pub', '-t', 'a', '-m', 'x', 'y'], /only flags, not "y"/],
    [['sub', '-t', 'a', 'y'], /only flags, not "y"/],
    [['pub', '-t', '', '-m', 'x'], /--topic has an empty value/],
    [['pub', '-t', 'a', '-m', 'x', '-m', 'y'], /--message is given more than once/],
    [['pub', '-t', 'a', '-m', 'x', '-q', '3'], /--qos is one of 0, 1, 2/],
    [['pub', '-t', 'a', '-m', 'x', '-P', 'secret'], /needs a user name: --username/],
    [['pub', '-t', 'a', '-m', 'x', '-u', 'ada'], /--url takes a URL.*A user name is --username/],
    [['pub', '-t', 'a', '-m', 'x', '-u', 'http://localhost'], /--url takes a URL as ws:/],
    [['pub', '-t', 'a', '-m', 'x', '-u', 'ws://localhost', '-p', '80'], /goes without --host and --port/],
    [['pub', '-t', 'a', '-m', 'x', '-h', 'localhost:80'], /--host takes the name or the address/],
    [['pub', '-t', 'a', '-m', 'x', '-p', '0'], /--port takes a whole number from 1 to 65535/],
    [['pub', '-t', 'a', '-m', 'x', '-k', '65536'], /--keep-alive takes a whole number from 0 to 65535/],
    [['pub', '-t', 'a', '-m', 'x', '-V', '4'], /--mqtt-version is one of/],
    [['pub', '-t', 'a', '-m', 'x', '--will-payload', 'x'], /--will-payload goes with --will-topic/],
    [['pub', '-t', 'a', '-m', 'x', '--will-topic', 'a/#'], /--will-topic: /],
    [['pub', '-L', 'mqtt://localhost/a'], /-L: the address and the topic are two flags/],
    [['sub', '-t', 'a', '-F', '%p'], /-F: .*--json/],
    [['sub', '-t', 'a', '-c', '-1'], /--count takes a whole number from 0 up, not "-1"/],
    [['sub', '-t', 'a', '-c', '-i', 'x'], /-c lacks its N/],
    [['sub', '-t', 'a', '-W', '0'], /--timeout takes a whole number from 1/],
    [['sub', '-t', 'a', '-R', '-V', '311'], /--retain-handling needs MQTT 5/],
    [['sub', '-t', 'a', '--no-local', '--mqtt-version', '3.1.1'], /--no-local needs MQTT 5/],
    [['sub'], /needs a topic filter/],
    [['rule', 'constructor'], /takes check FILE/],
    [['topics', 'constructor'], /check FILE/],
    [['user', 'constructor'], /list/],
    [['tenant', 'constructor'], /list/],
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
    [['stream', 'list', '--reverse'], /--reverse is for `apus stream messages`/],
    [['user', 'list', '--publish', 'a', '--users', 'u'], /--publish is for `apus user add`/],
    [['tenant', 'show', 'a', '--quota', 'a=1'], /--quota is for `create` and `change`/],
    [['topics', 'check', 'f', '--out', 'd'], /--out is for `apus topics page`/],
    [['topics', 'check', 'f', '--streams', 's'], /--streams is for `apus topics asyncapi`/],
    [['rule', 'check', 'f', '--url', 'http://a'], /--url is not for `apus rule check`/],
    [['cost', 'prices', '--clients', '5'], /--clients is for the estimate/],
    [['cost', '--usage', 'f', '--bytes', '5'], /--bytes is for the estimate/],
    [['clients', '--region', 'eu-west-1'], /--region goes with --stack or --function/],
    [['clients', '--stack', 's', '--api-key-file', 'f'], /--api-key-file is for a node/],
    [['token', 'rotate', '--sub', 'ada'], /--sub is for a token/],
    [['token', '--sub', 'ada', '--kid', 'k'], /--kid goes with --key-file/],
    [['token', '--sub', 'ada', '--finish'], /--finish is for `apus token rotate`/],
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
