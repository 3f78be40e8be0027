import { expect, test } from 'vitest';
import { type Command, fittingCommands } from '../../src/app/find-commands.ts';

const command = (label: string, kind: string): Command => ({ id: label, label, kind, run: () => {} });
const COMMANDS = [command('Messages', 'View'), command('Connect: Kitchen', 'ws://kitchen.example/mqtt')];

const found = (sought: string): string[] => fittingCommands(COMMANDS, sought).map(({ label }) => label);

test('without a word every command is offered', () => {
  expect(found(' ')).toEqual(['Messages', 'Connect: Kitchen']);
});

test('a command fits when its name or kind holds every word, in any case', () => {
  expect(found('KIT con')).toEqual(['Connect: Kitchen']);
  expect(found('kitchen.example')).toEqual(['Connect: Kitchen']);
  expect(found('view messages')).toEqual(['Messages']);
  expect(found('kitchen view')).toEqual([]);
});
