// A price board that is live when it opens: the last price of everything, and the last minute of one price.
import { connect } from '@apus/client';
import { resume } from '@apus/client/resume';
import { type Message, MqttProvider, useConnection, useLatest, useMessages } from '@apus/react';
import mqtt from 'mqtt';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** The payload that examples/backend publishes. */
interface Price {
  readonly price: number;
  readonly change: number;
}

const parameters = new URLSearchParams(location.search);
const url = parameters.get('url') ?? `ws://${location.hostname}:8084/mqtt`;
const token = parameters.get('token');

const open = (onEvent: (event: { readonly type: string }) => void) =>
  resume(
    connect(mqtt, url, { protocolVersion: 5 }, { onEvent, ...(token !== null && { token: () => token }) }),
  );

function Board() {
  // The stream keeps a snapshot: the last price of each topic comes with the subscription.
  const { byTopic, error } = useLatest('$stream/prices');
  const { state } = useConnection();
  const [chosen, setChosen] = useState<string>();
  const topics = [...byTopic.keys()].sort();
  return (
    <main>
      <header>
        <h1>Prices</h1>
        <p role="status">{error?.message ?? state}</p>
      </header>
      <table>
        <thead>
          <tr>
            <th>Symbol</th>
            <th>Price</th>
            <th>Change</th>
          </tr>
        </thead>
        <tbody>
          {topics.map((topic) => (
            <Row key={topic} topic={topic} message={byTopic.get(topic)} onChoose={setChosen} />
          ))}
        </tbody>
      </table>
      {chosen !== undefined && <History topic={chosen} />}
    </main>
  );
}

interface RowProps {
  readonly topic: string;
  readonly message: Message | undefined;
  readonly onChoose: (topic: string) => void;
}

function Row({ topic, message, onChoose }: RowProps) {
  const { price, change = 0 } = message?.json<Partial<Price>>() ?? {};
  return (
    <tr>
      <th scope="row">
        <button type="button" onClick={() => onChoose(topic)}>
          {nameOf(topic)}
        </button>
      </th>
      <td>{price?.toFixed(2) ?? '–'}</td>
      <td className={change < 0 ? 'down' : 'up'}>
        {change < 0 ? '▼' : '▲'} {Math.abs(change).toFixed(2)}
      </td>
    </tr>
  );
}

/** The last sixty prices come at once: the stream has stored them. */
function History({ topic }: { readonly topic: string }) {
  const { messages } = useMessages(topic, { rewind: '60', limit: 60 });
  const prices = messages.flatMap((message) => message.json<Partial<Price>>()?.price ?? []);
  const [low, high] = [Math.min(...prices), Math.max(...prices)];
  const points = prices.map(
    (price, index) => `${index * 5},${60 - ((price - low) / (high - low || 1)) * 60}`,
  );
  return (
    <figure>
      <svg
        viewBox="-2 -2 304 64"
        role="img"
        aria-label={`The last ${prices.length} prices of ${nameOf(topic)}`}
      >
        <polyline points={points.join(' ')} fill="none" stroke="currentColor" strokeWidth="1.5" />
      </svg>
      <figcaption>
        {nameOf(topic)}: {prices.length} prices, {low.toFixed(2)} to {high.toFixed(2)}
      </figcaption>
    </figure>
  );
}

function nameOf(topic: string): string {
  return topic.slice(topic.indexOf('/') + 1);
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MqttProvider connect={open}>
      <Board />
    </MqttProvider>
  </StrictMode>,
);
