import { createElement as h } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, it, vi } from 'vitest';
import {
  MqttProvider,
  useConnection,
  useLatest,
  useMessages,
  usePresence,
  usePublish,
} from '../src/index.ts';

function Page() {
  const { messages } = useMessages('news');
  const { message, byTopic } = useLatest('prices/+');
  const { members, isSubscribed } = usePresence('room', { member: 'me' });
  const { state } = useConnection();
  usePublish();
  return h(
    'p',
    null,
    [messages.length, byTopic.size, message === undefined, members.size, isSubscribed, state].join(),
  );
}

it('a server renders the page without a connection', () => {
  const connect = vi.fn();
  const html = renderToString(h(MqttProvider, { connect }, h(Page)));
  expect(html).toBe('<p>0,0,true,0,false,idle</p>');
  expect(connect).not.toHaveBeenCalled();
});

it('a hook without a provider says what is missing', () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  expect(() => renderToString(h(Page))).toThrow('this hook needs an <MqttProvider>');
  vi.restoreAllMocks();
});
