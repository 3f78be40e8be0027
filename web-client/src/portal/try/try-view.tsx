import { type FormEvent, useEffect, useState, useSyncExternalStore } from 'react';
import type { PortalServer, PortalTopic } from '../document/portal-document.ts';
import { filterOf, topicNameOf, type Values } from '../document/topic-of.ts';
import { samplePayload } from '../schema/sample-of.ts';
import { text } from '../strings.ts';
import type { Credentials } from './try-client.ts';
import { type TryMessage, TrySession } from './try-session.ts';

interface TryViewProps {
  readonly topic: PortalTopic;
  readonly values: Values;
  readonly rewind: string | undefined;
  readonly server: PortalServer;
  readonly credentials: Credentials;
  onCredentials(credentials: Credentials): void;
}

const OWN = 'own';

/** Publishes to the topic and listens to it, as the visitor. */
export function TryView({ topic, values, rewind, server, credentials, onCredentials }: TryViewProps) {
  const [session] = useState(() => new TrySession());
  const { status, isError, isBusy, listening, messages } = useSyncExternalStore(
    session.listen,
    session.state,
  );
  const [payload, setPayload] = useState(samplePayload(topic) ?? '');
  useEffect(() => () => session.end(), [session]);
  const place = { server, credentials };
  const [filter, name] = [filterOf(topic, values), topicNameOf(topic, values)];
  const publish = (event: FormEvent) => {
    event.preventDefault();
    void session.publish(place, { topic: name, payload, contentType: topic.contentType });
  };
  return (
    <>
      <p>{text.tryHelp}</p>
      <Who credentials={credentials} onCredentials={onCredentials} />
      <form className="try" aria-label={text.publish} onSubmit={publish}>
        {topic.examples.length > 0 && <ExampleChoice {...{ topic, payload }} onPayload={setPayload} />}
        <label className="field wide">
          {text.payloadToSend}
          <textarea
            rows={4}
            spellCheck={false}
            value={payload}
            onChange={({ target }) => setPayload(target.value)}
          />
        </label>
        <div className="buttons">
          <button type="submit" className="first" disabled={isBusy}>
            {text.send}
          </button>
          <code>{name}</code>
        </div>
      </form>
      <div className="buttons">
        <button type="button" disabled={isBusy} onClick={() => void session.subscribe(place, filter, rewind)}>
          {text.listen}
        </button>
        <code>{filter}</code>
        {listening !== undefined && (
          <button type="button" onClick={() => session.end()}>
            {text.stop}
          </button>
        )}
      </div>
      <p role="status" className={isError ? 'error' : ''}>
        {status}
      </p>
      <h3 id="received">{text.received}</h3>
      <Received messages={messages} />
    </>
  );
}

interface WhoProps {
  readonly credentials: Credentials;
  onCredentials(credentials: Credentials): void;
}

function Who({ credentials, onCredentials }: WhoProps) {
  return (
    <div className="fields">
      <label className="field">
        {text.userName}
        <input
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={credentials.username}
          onChange={({ target }) => onCredentials({ ...credentials, username: target.value })}
        />
        <span className="quiet">{text.userHelp}</span>
      </label>
      <label className="field">
        {text.token}
        <input
          type="password"
          autoComplete="off"
          value={credentials.password}
          onChange={({ target }) => onCredentials({ ...credentials, password: target.value.trim() })}
        />
        <span className="quiet">{text.tokenOptional}</span>
      </label>
    </div>
  );
}

interface ExampleChoiceProps {
  readonly topic: PortalTopic;
  readonly payload: string;
  onPayload(payload: string): void;
}

function ExampleChoice({ topic: { examples }, payload, onPayload }: ExampleChoiceProps) {
  const chosen = examples.findIndex((example) => example.payload === payload);
  return (
    <label className="field">
      {text.exampleToSend}
      <select
        value={chosen < 0 ? OWN : chosen}
        onChange={({ target }) => onPayload(examples[Number(target.value)]?.payload ?? '')}
      >
        {examples.map(({ label }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: examples of one topic do not change places
          <option key={index} value={index}>
            {label ?? text.example(index + 1)}
          </option>
        ))}
        {chosen < 0 && <option value={OWN}>{text.ownPayload}</option>}
      </select>
    </label>
  );
}

function Received({ messages }: { readonly messages: readonly TryMessage[] }) {
  if (messages.length === 0) return <p className="quiet">{text.nothingReceived}</p>;
  return (
    <ol className="received" aria-labelledby="received">
      {messages.map(({ id, topic, payload, marks }) => (
        <li key={id}>
          <code>{topic}</code>
          {marks.isPast && <span className="tag">{text.recovered}</span>}
          {marks.isRetained && <span className="tag">{text.retained}</span>}
          <pre>{payload}</pre>
        </li>
      ))}
    </ol>
  );
}
