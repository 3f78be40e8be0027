import { hashPassword, readIdentity } from '@apus/identity';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../src/commands/commands.ts';
import { type Flags, parseFlags, UsageError } from '../src/commands/flags.ts';
import { doorsForTest } from './support/doors.ts';
import { runInThisProcess } from './support/in-this-process.ts';
import { temporaryFile } from './support/temporary-file.ts';

const FLAGS: Flags = {
  text: { help: '', value: 'TEXT', short: 't', mayBeEmpty: true },
  name: { help: '', value: 'NAME', short: 'n' },
  many: { help: '', value: 'NAME', short: 'm', multiple: true },
  on: { help: '', short: 'o' },
  loud: { help: '', short: 'l' },
};
const SPELLINGS = { '-C': '--name', '--null': '--text=', '-O': '--on', '-F': 'there is none.' };

describe('a command line', () => {
  it.each<[string, object, string[]?]>([
    ['-t -5', { text: '-5' }],
    ['-t=-5', { text: '-5' }],
    ['-t-5', { text: '-5' }],
    ['--text -5', { text: '-5' }],
    ['--text=-5', { text: '-5' }],
    ['-t -', { text: '-' }],
    ['-t --', { text: '--' }],
    ['-t -----BEGIN', { text: '-----BEGIN' }],
    ['-t=a=b', { text: 'a=b' }],
    ['--text==', { text: '=' }],
    ['--text=', { text: '' }],
    ['--text=--on', { text: '--on' }],
    ['-oln x', { on: true, loud: true, name: 'x' }],
    ['-m a -m b --many=c', { many: ['a', 'b', 'c'] }],
    ['x -o y', { on: true }, ['x', 'y']],
    ['-o -- -t --name', { on: true }, ['-t', '--name']],
    ['-C 5', { name: '5' }],
    ['-C5', { name: '5' }],
    ['--null -Ol', { text: '', on: true, loud: true }],
  ])('%s', (line, given, positionals = []) => {
    const values = parseFlags(FLAGS, line.split(' '), SPELLINGS);
    expect(values.positionals).toEqual(positionals);
    expect(
      Object.fromEntries(
        Object.keys(FLAGS)
          .filter((name) => values.isSet(name))
          .map((name) => [name, values.text(name) ?? (name === 'many' ? values.all(name) : true)]),
      ),
    ).toEqual(given);
  });

  it.each<[string[], string]>([
    [['--wings'], "There is no flag '--wings'."],
    [['-5'], "There is no flag '-5'."],
    [['--constructor'], "There is no flag '--constructor'."],
    [['--__proto__=x'], "There is no flag '--__proto__'."],
    [['--te', 'x'], "There is no flag '--te'."],
    [['-ow'], "There is no flag '-w'."],
    [['-n'], '-n lacks its NAME.'],
    [['--name'], '--name lacks its NAME.'],
    [['-n', '-o'], '-n lacks its NAME: "-o" is read as a flag. As a value it is --name=-o.'],
    [['-n', '--wings'], '-n lacks its NAME: "--wings" is read as a flag. As a value it is --name=--wings.'],
    [['-n', '-C'], '-n lacks its NAME: "-C" is read as a flag. As a value it is --name=-C.'],
    [['-n', ''], '--name has an empty value.'],
    [['--name='], '--name has an empty value.'],
    [['-n='], '--name has an empty value.'],
    [['-m', 'a', '-m', ''], '--many has an empty value.'],
    [['-n', 'a', '--name=b'], '--name is given more than once.'],
    [['-oo'], '--on is given more than once.'],
    [['--null', '-t', 'x'], '--text is given more than once.'],
    [['--on=yes'], '--on takes no value, not "yes".'],
    [['-o=yes'], '-o takes no value, not "yes".'],
    [['-F', '%t'], '-F: there is none.'],
  ])('%j is refused in a sentence', (args, sentence) => {
    expect(() => parseFlags(FLAGS, args, SPELLINGS)).toThrow(new UsageError(sentence));
  });
});

describe('the flags of a command', () => {
  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'apus %s: each has names of its own',
    (_name, { flags, spellings }) => {
      const all = Object.values(flags).flatMap((group) => Object.entries(group));
      const typed = all.flatMap(([name, { short }]) => [
        `--${name}`,
        ...(short === undefined ? [] : [`-${short}`]),
      ]);
      expect(new Set(typed).size).toBe(typed.length);
      for (const [spelling, meaning] of Object.entries(spellings?.([]) ?? {})) {
        expect(typed).not.toContain(spelling);
        if (meaning.startsWith('-')) expect(typed).toContain(meaning.split('=')[0]);
        else expect(meaning).toMatch(/\.$/);
      }
    },
  );
});

describe('apus pub and apus sub take', () => {
  it('a command line of mosquitto_pub and mosquitto_sub', async () => {
    const password = await hashPassword(Buffer.from('secret'));
    const users = { users: [{ name: 'ada', password, publish: ['#'], subscribe: ['#'] }] };
    const file = temporaryFile('users.json', JSON.stringify(users));
    const doors = await doorsForTest({
      identity: readIdentity({ authenticators: [{ users: { file } }] }, 'identity'),
    });
    const { port } = new URL(doors.url);
    const at = ['-h', '127.0.0.1', '-p', port, '-u', 'ada', '-P', 'secret', '-k', '30', '-t', 'a/b'];
    const pub = (...flags: string[]) => runInThisProcess(['pub', ...at, ...flags]);
    const sub = (...flags: string[]) => runInThisProcess(['sub', ...at, ...flags]);
    for (const payload of ['-m -5', '-m=-5', '--message=-5']) {
      expect(await pub('-r', '-q', '1', '-V', 'mqttv311', '-i', 'p', ...payload.split(' '))).toMatchObject({
        code: 0,
      });
      expect(await sub('-C', '1', '-V', '311', '-q', '1', '-N')).toEqual({
        code: 0,
        stdout: '-5',
        stderr: '',
      });
    }
    expect(await pub('-r', '-n')).toMatchObject({ code: 0 });
    expect(await sub('-C', '1', '-W', '1', '-v')).toMatchObject({ code: 1, stdout: '' });
    expect(
      await sub('-E', '--will-topic', 'gone', '--will-payload', 'x', '--will-qos', '2', '--will-retain'),
    ).toMatchObject({ code: 0 });
  });

  it('a host that is an IPv6 address, or a port alone', async () => {
    const doors = await doorsForTest({ host: '::1' });
    const { port } = new URL(doors.url);
    expect(await runInThisProcess(['pub', '-h', '::1', '-p', port, '-t', 'a', '-m', 'x'])).toMatchObject({
      code: 0,
    });
    const other = new URL((await doorsForTest()).url);
    expect(await runInThisProcess(['pub', '-p', other.port, '-t', 'a', '-m', 'x'])).toMatchObject({
      code: 0,
    });
  });
});
