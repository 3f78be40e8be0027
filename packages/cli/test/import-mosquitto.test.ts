import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPassword, parseUsers } from '@apus/identity';
import { describe, expect, it } from 'vitest';
import { runInThisProcess } from './support/in-this-process.ts';
import { temporaryFolder } from './support/temporary-file.ts';

const salt = Buffer.from('twelve bytes');
const digest = createHash('sha512').update('secret').update(salt).digest('base64');
/** As `mosquitto_passwd -H sha512` writes it, for the password `secret`. */
const SALTED = `$6$${salt.toString('base64')}$${digest}`;

/** Writes files into a folder, imports its `mosquitto.conf`, and returns what the command says. */
async function imported(files: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const directory = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const out = join(directory, 'out');
  const args = ['import', 'mosquitto', join(directory, 'mosquitto.conf'), '--out', out, ...flags];
  const outcome = await runInThisProcess(args);
  const read = (name: string) => readFileSync(join(out, name), 'utf8');
  return { ...outcome, out, read, all: outcome.stdout.replaceAll(`${directory}/`, ''), args };
}

const CONF = 'password_file passwords\nacl_file acl\n';

describe('apus import mosquitto', () => {
  it('makes users with their passwords and permissions, denies first', async () => {
    const { code, read, all } = await imported({
      'mosquitto.conf': CONF,
      passwords: `ada:${SALTED}\nbob:${SALTED}\n`,
      acl: [
        'topic read public',
        'user ada',
        'topic ada/#',
        'topic deny ada/secret',
        'user bob',
        'topic read news/+',
        'pattern write in/%u',
        'user eve',
        'topic eve',
      ].join('\n'),
    });
    expect(code).toBe(0);
    const users = JSON.parse(read('users.json')).users as { name: string; password: string }[];
    expect(users).toEqual([
      {
        name: 'ada',
        password: expect.any(String),
        rules: [
          { effect: 'deny', action: 'all', topicFilters: ['ada/secret'] },
          { effect: 'allow', action: 'all', topicFilters: ['ada/#'] },
          { effect: 'allow', action: 'publish', topicFilters: ['in/%u'] },
        ],
      },
      { name: 'bob', password: expect.any(String), publish: ['in/%u'], subscribe: ['news/+'] },
    ]);
    expect(all).toContain('Made: 2 users.');
    expect(all).toContain('acl:1: it is for clients without a name');
    expect(all).toContain('user "eve": it has lines in the ACL file and no password');
    const ada = parseUsers(read('users.json'), 'users.json').get('ada');
    if (ada === undefined) throw new Error('there is no ada');
    expect(await isPassword(Buffer.from('secret'), ada.password)).toBe(true);
    expect(await isPassword(Buffer.from('Secret'), ada.password)).toBe(false);
    expect(read('users.json')).not.toContain(digest.slice(0, 20));
  });

  it('leaves out an allow that rules cannot say, and widens such a deny', async () => {
    const { read, all } = await imported({
      'mosquitto.conf': CONF,
      passwords: `ada:${SALTED}\n`,
      acl: 'user ada\ntopic deny a/%u/b\ntopic read a/%u\ntopic read ok\npattern read eq a\npattern read a/#/b\n',
    });
    expect(JSON.parse(read('users.json')).users[0].rules).toEqual([
      { effect: 'deny', action: 'all', topicFilters: ['a/+/b'] },
      { effect: 'allow', action: 'subscribe', topicFilters: ['ok'] },
    ]);
    for (const line of ['acl:2: it denies a/+/b', 'acl:3: left out', 'acl:5: left out', 'acl:6: left out'])
      expect(all).toContain(line);
  });

  it('names each user whose hash it cannot carry', async () => {
    const { read, all } = await imported({
      'mosquitto.conf': 'password_file passwords\n',
      passwords: `ada:${SALTED}\nbob:$argon2id$v=19$m=1,t=1,p=1$c2FsdA$aGFzaA\ncy:plain\ndan:$7$99999999$YWJj$${digest}\n`,
    });
    expect(JSON.parse(read('users.json')).users).toHaveLength(1);
    expect(all).toContain('passwords:2: user "bob" is left out: Apus does not calculate Argon2');
    expect(all).toContain('passwords:3: user "cy" is left out: it has no hash of mosquitto_passwd');
    expect(all).toContain('passwords:4: user "dan" is left out: its hash has more iterations');
  });

  it('makes flags from listeners and limits, and says which options it leaves out', async () => {
    const { read, all } = await imported({
      'mosquitto.conf': [
        '# a comment',
        'listener 1883 127.0.0.1',
        'max_connections 50',
        'listener 8883',
        'certfile server.pem',
        'keyfile server.key',
        'cafile ca.pem',
        'require_certificate true',
        'listener 9001 ::1',
        'protocol websockets',
        'max_queued_messages 0',
        'max_inflight_messages 20',
        'persistent_client_expiration 2w',
        'persistence true',
        'log_type all',
        'max_queued_bytes 1000',
        'connection cloud',
        'mystery 1',
      ].join('\n'),
    });
    const command = read('serve.txt').replaceAll(/\S+\/(?=server|ca)/g, '');
    expect(command).toBe(
      "apus serve --listen 'tcp://127.0.0.1:1883?connections-max=50' --listen 'tls://0.0.0.0:8883?client-certificate=required' --tls-cert server.pem --tls-key server.key --tls-client-ca ca.pem --listen ws://[::1]:9001/mqtt --data apus-data --inflight-messages-max 20 --session-expiry-seconds-max 1209600 --queue-bytes-max 1000\n",
    );
    for (const line of [
      'conf:9: WebSockets are at /mqtt',
      'conf:11: max_queued_messages 0',
      'conf:17: connection',
      'conf:18: mystery',
    ])
      expect(all).toContain(line);
    expect(all).not.toContain('log_type');
  });

  it('lets clients without a name in only where nothing limits them', async () => {
    const open = await imported({ 'mosquitto.conf': 'allow_anonymous true\nlistener 1883\n' });
    expect(open.read('serve.txt')).toContain('--allow-anonymous');
    const limited = await imported({
      'mosquitto.conf': 'allow_anonymous true\nlistener 1883\nacl_file acl\n',
      acl: 'topic read a\n',
    });
    expect(limited.read('serve.txt')).not.toContain('--allow-anonymous');
    expect(limited.all).toContain('allow_anonymous is left out');
  });

  it('writes over no file, and its own only for their owner to read', async () => {
    const { args, out, read } = await imported({
      'mosquitto.conf': CONF,
      passwords: `ada:${SALTED}\n`,
      acl: '',
    });
    expect(statSync(join(out, 'users.json')).mode & 0o777).toBe(0o600);
    const before = read('users.json');
    const { code, stderr } = await runInThisProcess(args);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('users.json is there: the command writes over no file'),
    ]);
    expect(read('users.json')).toBe(before);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['mosquitto.conf cannot be read', {}],
    ['mosquitto.conf:2: "password_file" has no value', { 'mosquitto.conf': '\npassword_file\n' }],
    ['mosquitto.conf:1: listener has a port from 0 to 65535', { 'mosquitto.conf': 'listener 70000\n' }],
    ['has one of certfile and keyfile', { 'mosquitto.conf': 'listener 1\ncertfile a\n' }],
    ['mosquitto.conf:1: allow_anonymous is true or false', { 'mosquitto.conf': 'allow_anonymous maybe\n' }],
    ['mosquitto.conf:1: max_keepalive is a whole number', { 'mosquitto.conf': 'max_keepalive -1\n' }],
    ['mosquitto.conf:2: ', { 'mosquitto.conf': 'acl_file a\nacl_file b\n' }],
    ['passwords cannot be read', { 'mosquitto.conf': CONF, acl: '' }],
    ['passwords:1: it has to be NAME:HASH', { 'mosquitto.conf': CONF, acl: '', passwords: 'ada\n' }],
    [
      'passwords:2: there are two users "ada"',
      { 'mosquitto.conf': CONF, acl: '', passwords: 'ada:a\nada:b\n' },
    ],
    ['acl:1: a line begins with user, topic or pattern', { 'mosquitto.conf': CONF, acl: 'topics a\n' }],
    ['acl:2: before a topic stands read', { 'mosquitto.conf': CONF, acl: 'user a\ntopic a b\n' }],
    ['it has more than 8388608 bytes', { 'mosquitto.conf': `#${'x'.repeat(8 * 1024 * 1024)}` }],
  ])('says for a file that is wrong: %s', async (sentence, files) => {
    const { code, stderr } = await imported(files);
    expect(stderr).toContain(sentence);
    expect(code).toBe(1);
  });

  it('reads the files of include_dir, and files that are elsewhere', async () => {
    const directory = temporaryFolder();
    writeFileSync(join(directory, 'b.conf'), 'password_file /nowhere/passwords\n');
    writeFileSync(join(directory, 'ignored.txt'), 'nonsense\n');
    writeFileSync(join(directory, 'moved'), `ada:${SALTED}\n`);
    const { code, read } = await imported(
      { 'mosquitto.conf': `include_dir ${directory}\n` },
      '--password-file',
      join(directory, 'moved'),
    );
    expect(code).toBe(0);
    expect(read('serve.txt')).toBe('apus serve --users users.json --listen tcp://127.0.0.1:1883\n');
    expect(JSON.parse(read('users.json')).users).toMatchObject([
      { name: 'ada', publish: ['#', '$SYS/#'], subscribe: ['#', '$SYS/#'] },
    ]);
  });

  it.each([
    [['import']],
    [['import', 'mosquitto']],
    [['import', 'nats', 'f']],
    [['import', 'mosquitto', 'f', '--hash', 'sha']],
    [['import', 'emqx', 'f', '--hash', 'bcrypt']],
  ])('%j is answered with how it is typed', async (args) =>
    expect(await runInThisProcess(args)).toMatchObject({ code: 2 }),
  );
});
