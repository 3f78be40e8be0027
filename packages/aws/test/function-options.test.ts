import { expect, it } from 'vitest';
import { FUNCTION_OPTIONS, readOptions, writeOptions } from '../src/function-options.ts';
import { ALIVE_FRAME, createEnvironment, parseClientFrame } from '../src/index.ts';

const optionsOf = (variables: Record<string, string>) => readOptions(variables, FUNCTION_OPTIONS);

it('reads the options of a deployment from the variables of a function', () => {
  expect(optionsOf({})).toEqual({});
  const options = {
    allowedOrigins: ['https://app.example.com', 'https://b.example.com'],
    connectTimeoutSeconds: 5,
    resumeSeconds: 0,
    cutAfterMs: 1_000,
    withoutExtensions: [],
    quotas: { identity: { framesPerSecondMax: 1 } },
    presence: true,
    otlpUrl: 'https://collector.example.com',
    logLevel: 'info',
  };
  const variables = writeOptions({ ...options, usage: false, streams: [] }, FUNCTION_OPTIONS);
  expect(variables).toMatchObject({ APUS_RESUME_SECONDS: '0', APUS_PRESENCE: 'on' });
  expect(optionsOf(variables)).toEqual(options);
});

it('reads which extensions are not taken', () => {
  const { withoutExtensions } = optionsOf({ APUS_WITHOUT_EXTENSIONS: 'close,resume,alive' });
  const { extensions } = createEnvironment({ withoutExtensions } as never);
  expect(extensions).toEqual(['nudge', 'move']);
  expect(parseClientFrame('(nudge,resume,close)wAA=', extensions)).toMatchObject({ offered: ['nudge'] });
  expect(parseClientFrame(ALIVE_FRAME, extensions)).toMatchObject({ reasonCode: 0x81 });
});

it('pages of no site may connect where the list of their origins is empty', () => {
  expect(optionsOf({ APUS_ALLOWED_ORIGINS: '' })).toEqual({ allowedOrigins: [] });
});

it.each([
  [{ APUS_RESUME_SECONDS: '241' }, 'APUS_RESUME_SECONDS is 241: it has to be from 0 to 240'],
  [{ APUS_CUT_AFTER_MS: '1001' }, 'APUS_CUT_AFTER_MS is 1001: it has to be from 0 to 1000'],
  [{ APUS_CUT_AFTER_MS: '-1' }, 'APUS_CUT_AFTER_MS is -1: it has to be from 0 to 1000'],
  [{ APUS_CUT_AFTER_MS: 'soon' }, 'APUS_CUT_AFTER_MS is soon: it has to be from 0 to 1000'],
  [{ APUS_PRESENCE: 'yes' }, 'APUS_PRESENCE is yes: it has to be on or off'],
  [{ APUS_LOG_LEVEL: 'loud' }, 'APUS_LOG_LEVEL is loud: it has to be one of error, warn, info, debug'],
])('refuses %j', (variables, sentence) => {
  expect(() => optionsOf(variables)).toThrow(sentence);
});
