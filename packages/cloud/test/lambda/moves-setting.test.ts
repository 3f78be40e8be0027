import { expect, it } from 'vitest';
import { ALIVE_FRAME, createEnvironment, parseClientFrame } from '../../src/index.ts';
import { movesOf } from '../../src/lambda/settings.ts';

it('reads how sessions move and are resumed from the variables of a function', () => {
  expect(movesOf({})).toEqual({
    resumeSeconds: undefined,
    cutAfterMs: undefined,
    withoutExtensions: undefined,
  });
  expect(movesOf({ APUS_RESUME_SECONDS: '0', APUS_CUT_AFTER_MS: '1000' })).toEqual({
    resumeSeconds: 0,
    cutAfterMs: 1_000,
    withoutExtensions: undefined,
  });
});

it('reads which extensions are not taken', () => {
  const { withoutExtensions } = movesOf({ APUS_WITHOUT_EXTENSIONS: 'close,resume,alive' });
  expect(withoutExtensions).toEqual(['close', 'resume', 'alive']);
  const { extensions } = createEnvironment({ withoutExtensions } as never);
  expect(extensions).toEqual(['nudge', 'move']);
  expect(parseClientFrame('(nudge,resume,close)wAA=', extensions)).toMatchObject({ offered: ['nudge'] });
  expect(parseClientFrame(ALIVE_FRAME, extensions)).toMatchObject({ reasonCode: 0x81 });
});

it.each([
  [{ APUS_RESUME_SECONDS: '241' }, 'APUS_RESUME_SECONDS is 241: it has to be from 0 to 240'],
  [{ APUS_CUT_AFTER_MS: '1001' }, 'APUS_CUT_AFTER_MS is 1001: it has to be from 0 to 1000'],
  [{ APUS_CUT_AFTER_MS: '-1' }, 'APUS_CUT_AFTER_MS is -1: it has to be from 0 to 1000'],
  [{ APUS_CUT_AFTER_MS: 'soon' }, 'APUS_CUT_AFTER_MS is soon: it has to be from 0 to 1000'],
])('refuses %j', (variables, sentence) => {
  expect(() => movesOf(variables)).toThrow(sentence);
});
