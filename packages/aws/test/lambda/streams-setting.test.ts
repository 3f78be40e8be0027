import { expect, it } from 'vitest';
import { FUNCTION_OPTIONS, readOptions } from '../../src/function-options.ts';
import { streamsOf as streamsIn } from '../../src/lambda/settings.ts';

const streamsOf = (variables: Record<string, string>) =>
  streamsIn(readOptions(variables, FUNCTION_OPTIONS), variables);

const TABLE = { APUS_STREAMS_TABLE_NAME: 'streams' };

it('a deployment without the variable has no streams, even if it has a table for them', () => {
  expect(streamsOf({})).toBeUndefined();
  expect(streamsOf(TABLE)).toBeUndefined();
});

it('streams have their defaults, and the name of their table', () => {
  const streams = streamsOf({ ...TABLE, APUS_STREAMS: '[{"name":"chat","topicFilter":"chat/#"}]' });
  expect(streams?.tableName).toBe('streams');
  expect(streams?.declared.covering('chat/a')).toMatchObject({ name: 'chat', messagesMax: 1000 });
});

it('a function does not start with streams that cannot be, or without their table', () => {
  expect(() => streamsOf({ APUS_STREAMS: '[{"name":"chat","topicFilter":"chat/#"}]' })).toThrow(
    /APUS_STREAMS_TABLE_NAME is not set/,
  );
  expect(() => streamsOf({ ...TABLE, APUS_STREAMS: '[{"name":"a/b","topicFilter":"a"}]' })).toThrow(
    /name has 1 to 64/,
  );
});
