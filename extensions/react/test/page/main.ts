/// <reference lib="dom" />
import { MqttProvider, useConnection, useLatest, useMessages, usePresence, usePublish } from '@apus/react';
import mqtt from 'mqtt';
import { createElement as h, type ReactNode, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** Components that a test mounts and unmounts by pressing their buttons. */
const url = new URLSearchParams(location.search).get('url') ?? '';
const clientId = new URLSearchParams(location.search).get('id') ?? '';

let clients = 0;

const button = (name: string, onClick: () => void, key?: string) =>
  h('button', { type: 'button', key, onClick }, name);

function open() {
  clients += 1;
  return mqtt.connect(url, { protocolVersion: 5, clientId, reconnectPeriod: 50 });
}

function Messages({ name }: { readonly name: string }): ReactNode {
  const { messages, isSubscribed } = useMessages('react/news', { limit: 3 });
  return h('p', null, `${name} ${isSubscribed}: ${messages.map(({ text }) => text).join(' ')}`);
}

function Latest(): ReactNode {
  const { message, byTopic } = useLatest('react/prices/+');
  return h('p', null, `latest: ${message?.topic} ${message?.text} of ${byTopic.size}`);
}

function Room(): ReactNode {
  const [data, setData] = useState('idle');
  const { members } = usePresence('react-room', { member: clientId, data });
  const text = [...members].map(([member, { text }]) => `${member}=${text}`).join(' ');
  return h(
    'p',
    null,
    `members: ${text} `,
    button('busy', () => setData('busy')),
  );
}

function Publisher(): ReactNode {
  const publish = usePublish();
  const [result, setResult] = useState('');
  const send = (topic: string) =>
    publish(topic, 'sent').then(
      () => setResult('accepted'),
      (error: Error) => setResult(`refused: ${error.message}`),
    );
  return h(
    'p',
    null,
    `result: ${result} `,
    button('publish', () => send('react/news')),
    button('publish wrongly', () => send('$presence/a/b/c')),
  );
}

function Connection(): ReactNode {
  const { state } = useConnection();
  return h('p', { role: 'status' }, `${state}, clients made: ${clients}`);
}

const PARTS = {
  first: () => h(Messages, { name: 'first' }),
  second: () => h(Messages, { name: 'second' }),
  latest: () => h(Latest),
  room: () => h(Room),
  publisher: () => h(Publisher),
};

function App(): ReactNode {
  const [shown, setShown] = useState<readonly string[]>([]);
  const toggle = (name: string) =>
    setShown(shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name]);
  return h(
    MqttProvider,
    { connect: open },
    h(Connection),
    ...Object.entries(PARTS).flatMap(([name, part]) => [
      button(name, () => toggle(name), `button-${name}`),
      shown.includes(name) ? h('div', { key: name }, part()) : null,
    ]),
  );
}

const root = createRoot(document.getElementById('root') as HTMLElement);
root.render(h(StrictMode, null, h(App)));
Object.assign(window, { unmount: () => root.unmount() });
