// A chat with history and presence: about a hundred lines, of which half are React's.
import { connect } from '@apus/client';
import { resume } from '@apus/client/resume';
import { type Message, MqttProvider, useConnection, useMessages, usePresence, usePublish } from '@apus/react';
import mqtt from 'mqtt';
import { type FormEvent, StrictMode, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** The payload of a message of the room. */
interface Line {
  readonly from: string;
  readonly text: string;
}

const parameters = new URLSearchParams(location.search);
const url = parameters.get('url') ?? `ws://${location.hostname}:8084/mqtt`;
const token = parameters.get('token');
const room = parameters.get('room') ?? 'lobby';

/** `onEvent` requests the list of members again if changes may have been lost. */
const open = (onEvent: (event: { readonly type: string }) => void) =>
  resume(
    connect(mqtt, url, { protocolVersion: 5 }, { onEvent, ...(token !== null && { token: () => token }) }),
  );

function Chat({ name }: { readonly name: string }) {
  const [isTyping, setTyping] = useState(false);
  const { messages, error } = useMessages(`chat/${room}`, { rewind: '50', limit: 200 });
  const { members } = usePresence(room, { member: name, data: { isTyping } });
  const { state } = useConnection();
  const end = useRef<HTMLLIElement>(null);
  const newest = messages.at(-1)?.key;
  useEffect(() => {
    if (newest !== undefined) end.current?.scrollIntoView();
  }, [newest]);
  return (
    <main>
      <header>
        <h1>{room}</h1>
        <p role="status">{error?.message ?? state}</p>
      </header>
      <ul aria-label="Members">
        {[...members].map(([member, data]) => (
          <li key={member}>
            {member}
            {data.json<{ isTyping?: boolean }>()?.isTyping && ' …'}
          </li>
        ))}
      </ul>
      <ol aria-label="Messages">
        {messages.map((message) => (
          <Said key={message.key} message={message} isMine={message.json<Line>()?.from === name} />
        ))}
        <li ref={end} aria-hidden />
      </ol>
      <Composer name={name} onTyping={setTyping} />
    </main>
  );
}

function Said({ message, isMine }: { readonly message: Message; readonly isMine: boolean }) {
  const { from = '?', text = message.text } = message.json<Partial<Line>>() ?? {};
  return (
    <li className={isMine ? 'mine' : ''}>
      <b>{String(from)}</b> {String(text)}
    </li>
  );
}

function Composer({ name, onTyping }: { readonly name: string; readonly onTyping: (is: boolean) => void }) {
  const publish = usePublish();
  const [text, setText] = useState('');
  const [failure, setFailure] = useState('');
  const write = (next: string) => {
    setText(next);
    onTyping(next !== '');
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (text === '') return;
    const line: Line = { from: name, text };
    publish(`chat/${room}`, line).then(
      () => setFailure(''),
      (error: Error) => setFailure(`Not sent: ${text} (${error.message})`),
    );
    write('');
  };
  return (
    <form onSubmit={send}>
      <input
        aria-label="Message"
        value={text}
        onChange={(event) => write(event.target.value)}
        maxLength={2_000}
      />
      <button type="submit">Send</button>
      {failure !== '' && <p role="alert">{failure}</p>}
    </form>
  );
}

/** A member's name is one level of a topic. */
function App() {
  const [name, setName] = useState('');
  const enter = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setName(String(new FormData(event.currentTarget).get('name')));
  };
  if (name !== '') return <Chat name={name} />;
  return (
    <form className="door" onSubmit={enter}>
      <label>
        Your name <input name="name" required pattern="[^\/+#]+" maxLength={40} />
      </label>
      <button type="submit">Enter {room}</button>
    </form>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MqttProvider connect={open}>
      <App />
    </MqttProvider>
  </StrictMode>,
);
