import { connection } from './javascript.ts';
import { quoted } from './literals.ts';
import { type Snippet, type Snippets, tarballsOf, type Wanted } from './snippet.ts';

/** Components with the hooks of `@apus/react`. A browser has no environment: the token comes from the app. */
export function react(wanted: Wanted): Snippets {
  const { filter, rewind, topic, payload, contentType } = wanted;
  const past = rewind === undefined ? '' : `, { rewind: ${quoted(rewind)} }`;
  const properties = `{ properties: { contentType: ${quoted(contentType)} } }`;
  return {
    receive: snippet(
      wanted,
      'Received.tsx',
      'useMessages',
      `function Received() {
  const { messages, error } = useMessages(${quoted(filter)}${past});
  if (error) return <p>{error.message}</p>;
  return (
    <ul>
      {messages.map((message) => (
        <li key={message.key}>
          {message.topic} {message.text}
        </li>
      ))}
    </ul>
  );
}`,
      'Received',
    ),
    publish: snippet(
      wanted,
      'Publish.tsx',
      'usePublish',
      payload === undefined
        ? `function Publish() {
  const publish = usePublish();
  const [state, setState] = useState('');
  const send = async (file: File) => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    await publish(${quoted(topic)}, bytes, ${properties});
  };
  return (
    <>
      <input
        type="file"
        aria-label="File to publish"
        onChange={({ target }) => {
          const file = target.files?.[0];
          if (file) send(file).then(() => setState('Published'), (error: Error) => setState(error.message));
        }}
      />
      <p role="status">{state}</p>
    </>
  );
}`
        : `function Publish() {
  const publish = usePublish();
  const [state, setState] = useState('');
  const send = () =>
    publish(
      ${quoted(topic)},
      ${quoted(payload)},
      ${properties},
    ).then(
      () => setState('Published'),
      (error: Error) => setState(error.message),
    );
  return (
    <>
      <button type="button" onClick={send}>
        Publish
      </button>
      <p role="status">{state}</p>
    </>
  );
}`,
      'Publish',
    ),
  };
}

function snippet(
  wanted: Wanted,
  file: string,
  hook: 'useMessages' | 'usePublish',
  component: string,
  name: string,
): Snippet {
  const { server } = wanted;
  const isGateway = server.door === 'gateway';
  const packages = isGateway ? ['react', 'client'] : ['react'];
  const withState = hook === 'usePublish' ? "\nimport { useState } from 'react';" : '';
  const [parameter, options] = isGateway
    ? ['onEvent: (event: { readonly type: string }) => void', 'onEvent']
    : ['', ''];
  const token = server.asksForToken ? "\nconst TOKEN = 'YOUR-TOKEN';" : '';
  return {
    install: `npm install react react-dom mqtt ${tarballsOf(packages, wanted)}`,
    file,
    code: `${isGateway ? "import { connect } from '@apus/client';\n" : ''}import { MqttProvider, ${hook} } from '@apus/react';
import mqtt from 'mqtt';${withState}
${token}
const open = (${parameter}) =>
  ${connection(server, 'TOKEN', options).replaceAll('\n', '\n  ')};

${component}

export const App = () => (
  <MqttProvider connect={open}>
    <${name} />
  </MqttProvider>
);`,
  };
}
