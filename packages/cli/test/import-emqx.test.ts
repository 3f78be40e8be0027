import { createHash, pbkdf2Sync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRulesFile } from '@apus/bridges';
import { isPassword, parseUsers } from '@apus/identity';
import { describe, expect, it } from 'vitest';
import { runInThisProcess } from './support/in-this-process.ts';
import { temporaryFolder } from './support/temporary-file.ts';

const SALT = '9d4b0e8f2c';
const sha256 = (password: string) => createHash('sha256').update(`${password}${SALT}`).digest('hex');
const USERNAME = `\${username}`;
const HEADER = 'user_id,password_hash,salt,is_superuser';
const USERS = `${HEADER}\nada,${sha256('secret')},${SALT},false\n"b,ob",${sha256('other')},${SALT},true\n`;

async function imported(files: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const directory = temporaryFolder();
  const paths = Object.keys(files).map((name) => join(directory, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const out = join(directory, 'out');
  const outcome = await runInThisProcess(['import', 'emqx', ...paths, '--out', out, ...flags]);
  const usersText = () => readFileSync(join(out, 'users.json'), 'utf8');
  const users = () => JSON.parse(usersText()).users as readonly Record<string, unknown>[];
  return { ...outcome, out, users, usersText, all: outcome.stdout.replaceAll(`${directory}/`, '') };
}

async function takes(text: string, name: string, password: string): Promise<boolean> {
  const user = parseUsers(text, 'users.json').get(name);
  return user !== undefined && (await isPassword(Buffer.from(password), user.password));
}

describe('apus import emqx', () => {
  it('makes users of CSV; clients keep their passwords', async () => {
    const { code, users, usersText } = await imported({ 'users.csv': USERS });
    expect(code).toBe(0);
    expect(users()).toMatchObject([
      { name: 'ada', publish: [], subscribe: [] },
      { name: 'b,ob', publish: ['#', '$SYS/#'], subscribe: ['#', '$SYS/#'] },
    ]);
    expect([
      await takes(usersText(), 'ada', 'secret'),
      await takes(usersText(), 'b,ob', 'other'),
      await takes(usersText(), 'ada', 'other'),
    ]).toEqual([true, true, false]);
  });

  it('makes users of JSON: PBKDF2, plain passwords, and none of bcrypt', async () => {
    const key = pbkdf2Sync('secret', SALT, 4096, 32, 'sha256').toString('hex');
    const list = [
      { user_id: 'ada', password_hash: key, salt: SALT, is_superuser: false },
      { user_id: 'bob', password: 'plain' },
      { user_id: 'cy', password_hash: '$2b$10$abcdefghijklmnopqrstuv', salt: '$2b$10$abc' },
    ];
    const { users, usersText, all } = await imported(
      { 'users.json': JSON.stringify({ data: list }) },
      ...['--hash', 'pbkdf2-sha256:4096', '--no-match', 'allow'],
    );
    expect(users().map(({ name, publish }) => [name, publish])).toEqual([
      ['ada', ['#', '$SYS/#']],
      ['bob', ['#', '$SYS/#']],
    ]);
    expect(await takes(usersText(), 'ada', 'secret')).toBe(true);
    expect(await takes(usersText(), 'bob', 'plain')).toBe(true);
    expect(all).toContain('users.json: [2]: user "cy" is left out: its hash is not of the kind');
  });

  it('puts the lines of acl.conf, in their order, into the rules of each user', async () => {
    const { users, all } = await imported({
      'users.csv': USERS,
      'acl.conf': [
        '%% EMQX: a comment with {braces}',
        '{allow, {username, {re, "^dash"}}, subscribe, ["$SYS/#"]}.',
        '{allow, {ipaddr, "127.0.0.1"}, all, ["#"]}.',
        '{deny, {clientid, "x"}, publish, ["c/#"]}.',
        '{deny, {\'and\', [{user, <<"ada">>}, {ipaddr, "10.0.0.0/8"}]}, all, ["inside"]}.',
        '{deny, {\'and\', [{user, "eve"}, {ipaddr, "10.0.0.0/8"}]}, all, ["of eve"]}.',
        `{allow, {user, "ada"}, {publish, [{qos, 1}, {retain, false}]}, ["a/${USERNAME}/#",`,
        '  {eq, "b/#"}]}.',
        '{allow, {user, "eve"}, all, ["eve"]}. {deny, all, subscribe, ["$' + '{cert_common_name}/x"]}.',
        '{allow, all}.',
      ].join('\n'),
    });
    expect(users()[0]).toEqual({
      name: 'ada',
      password: expect.any(String),
      rules: [
        { effect: 'deny', action: 'publish', topicFilters: ['c/#'] },
        { effect: 'deny', action: 'all', topicFilters: ['inside'] },
        {
          effect: 'allow',
          action: 'publish',
          topicFilters: [`a/${USERNAME}/#`, 'eq b/#'],
          qos: [1],
          retain: false,
        },
        { effect: 'deny', action: 'subscribe', topicFilters: ['+/x'] },
        { effect: 'allow', action: 'all', topicFilters: ['#', '$SYS/#'] },
      ],
    });
    for (const line of [2, 3, 4, 5, 6, 9]) expect(all).toContain(`acl.conf:${line}:`);
    for (const line of [7, 10]) expect(all).not.toContain(`acl.conf:${line}:`);
    expect(all).toContain('acl.conf:3: it is left out');
    expect(all).toContain('acl.conf:4: it denies all users whom it may concern');
  });

  it('makes rules of those that send messages to another topic, and says why others stay out', async () => {
    const republish = (args: object) => ({ function: 'republish', args });
    const rules = [
      {
        id: 'copy it',
        sql: 'SELECT * FROM "a/+", "b"',
        actions: [republish({ topic: `x/${'$'}{topic}`, qos: 1 })],
      },
      { id: 'hot', sql: 'SELECT * FROM "t" WHERE payload.t > 80', actions: [republish({ topic: 'x' })] },
      { id: 'hook', sql: 'SELECT * FROM "t"', actions: ['webhook:mine'] },
      { id: 'off', sql: 'SELECT * FROM "t"', enable: false, actions: [] },
      { id: 'event', sql: 'SELECT * FROM "$events/client_connected"', actions: [] },
      { id: 'other', sql: 'SELECT * FROM "t"', actions: [republish({ topic: 'x', payload: 'changed' })] },
    ];
    const { out, all } = await imported({ 'rules.json': JSON.stringify({ data: rules }) });
    expect(readRulesFile(join(out, 'rules.json'))).toMatchObject([
      { name: 'copy-it-1-1', filter: 'a/+', to: { kind: 'publish' } },
      { name: 'copy-it-1-2', filter: 'b' },
    ]);
    expect(all).toContain('Made: 2 rules.');
    for (const why of [
      'rule 2: left out: its SQL selects',
      'rule 3: left out: its action "webhook:mine" needs the address',
      'rule 4: left out: it is not enabled',
      'rule 5: left out: it is about events',
      'rule 6: left out: it changes the payload',
    ])
      expect(all).toContain(why);
  });

  it('leaves a user out whose permissions are more than Apus takes', async () => {
    const topics = Array.from({ length: 101 }, (_, index) => `"t/${index}"`).join(', ');
    const { users, all } = await imported({
      'users.csv': USERS,
      'acl.conf': `{allow, {user, "ada"}, all, [${topics}]}.`,
    });
    expect(users().map(({ name }) => name)).toEqual(['b,ob']);
    expect(all).toContain(
      'user "ada": it is left out: publish has to be a list of at most 100 topic filters.',
    );
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['acl.conf:2: a full stop ends a term', { 'acl.conf': '{allow, all}.\n{deny, all}' }],
    ['acl.conf:1: a term has to stand here', { 'acl.conf': '{allow, }.' }],
    ['acl.conf:1: terms stand in more than 10 others', { 'acl.conf': '['.repeat(20) }],
    ['acl.conf:1: a rule is as {allow', { 'acl.conf': '{permit, all}.' }],
    ['acl.conf:1: an action is publish', { 'acl.conf': '{allow, all, read, ["a"]}.' }],
    ['acl.conf:1: a condition of an action', { 'acl.conf': '{allow, all, {publish, [{size, 1}]}, ["a"]}.' }],
    ['acl.conf:1: QoS is 0, 1 or 2', { 'acl.conf': '{allow, all, {publish, [{qos, 3}]}, ["a"]}.' }],
    ['acl.conf:1: the topics are a list', { 'acl.conf': '{allow, all, publish, "a"}.' }],
    ['give the file of the users, too', { 'acl.conf': '{allow, all}.' }],
    ['users.csv:1: the first line names fields', { 'users.csv': 'name,hash\n' }],
    ['users.csv:2: it has 1 values, and the first line 4', { 'users.csv': `${HEADER}\nada\n` }],
    ['users.csv:2: a quote does not end', { 'users.csv': `${HEADER}\n"ada,a,b,c\n` }],
    ['users.csv:3: there are two users "ada"', { 'users.csv': `${HEADER}\nada,a,b,c\nada,a,b,c\n` }],
    ['users.json: [0]: it has no user_id', { 'users.json': '[{}]' }],
    ['users.json is no JSON, CSV (.csv) or acl.conf', { 'users.json': '{' }],
  ])('says for a file that is wrong: %s', async (sentence, files) => {
    const { code, stderr } = await imported(files);
    expect(stderr).toContain(sentence);
    expect(code).toBe(1);
  });
});
