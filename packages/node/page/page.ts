/// <reference lib="dom" />
import mqtt, { type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';

/** Messages that stay on the page. */
const MESSAGES_MAX = 200;
/** Characters of a payload that are shown. */
const PAYLOAD_LENGTH_MAX = 2_000;

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}

const connectionForm = element<HTMLFormElement>('connection');
const subscribeForm = element<HTMLFormElement>('subscribe');
const publishForm = element<HTMLFormElement>('publish');
const status = element('status');
const published = element<HTMLOutputElement>('published');
const subscriptions = element<HTMLUListElement>('subscriptions');
const messages = element<HTMLOListElement>('messages');
const count = element<HTMLSpanElement>('count');

/** What the user subscribed to, so that another connection has it too. */
const filters = new Map<string, 0 | 1 | 2>();
let client: MqttClient | undefined;
let received = 0;

function field(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? '');
}

function qosOf(form: HTMLFormElement): 0 | 1 | 2 {
  return Number(field(form, 'qos')) as 0 | 1 | 2;
}

function connect(): void {
  client?.end(true);
  const options: IClientOptions = {
    protocolVersion: field(connectionForm, 'version') === '4' ? 4 : 5,
    clientId: field(connectionForm, 'clientId'),
    clean: true,
    reconnectPeriod: 2_000,
    // Otherwise mqtt.js starts a worker from a blob, which the page's Content Security Policy forbids.
    timerVariant: 'native',
  };
  const username = field(connectionForm, 'username');
  if (username !== '') Object.assign(options, { username, password: field(connectionForm, 'password') });
  const url = field(connectionForm, 'url');
  const opened = mqtt.connect(url, options);
  client = opened;
  const say = (text: string) => {
    if (client === opened) status.textContent = `${text}: ${url}`;
  };
  say('connecting …');
  opened.on('connect', () => {
    say('connected');
    for (const [topic, qos] of filters) void subscribe(opened, topic, qos);
  });
  opened.on('reconnect', () => say('connecting …'));
  opened.on('close', () => say('not connected'));
  opened.on('error', (error) => say(error.message));
  opened.on('message', (topic, payload, packet) => {
    if (client === opened) show(topic, payload, packet);
  });
}

async function subscribe(to: MqttClient, topic: string, qos: 0 | 1 | 2): Promise<void> {
  try {
    await to.subscribeAsync(topic, { qos });
    filters.set(topic, qos);
  } catch (error) {
    filters.delete(topic);
    status.textContent = `${topic}: ${error instanceof Error ? error.message : String(error)}`;
  }
  listSubscriptions();
}

function listSubscriptions(): void {
  subscriptions.replaceChildren(
    ...[...filters].map(([topic, qos]) => {
      const item = document.createElement('li');
      const remove = document.createElement('button');
      remove.type = 'button';
      remove.textContent = 'Unsubscribe';
      remove.setAttribute('aria-label', `Unsubscribe from ${topic}`);
      remove.addEventListener('click', () => {
        filters.delete(topic);
        client?.unsubscribe(topic);
        listSubscriptions();
      });
      item.append(`${topic} at QoS ${qos} `, remove);
      return item;
    }),
  );
}

function show(topic: string, payload: Uint8Array, { qos, retain }: IPublishPacket): void {
  const item = document.createElement('li');
  const about = document.createElement('div');
  const name = document.createElement('span');
  const text = document.createElement('pre');
  about.className = 'about';
  name.className = 'topic';
  name.textContent = topic;
  about.append(name, ` · QoS ${qos}${retain ? ' · retained' : ''} · ${new Date().toLocaleTimeString()}`);
  text.textContent = new TextDecoder().decode(payload).slice(0, PAYLOAD_LENGTH_MAX);
  item.append(about, text);
  messages.prepend(item);
  while (messages.children.length > MESSAGES_MAX) messages.lastElementChild?.remove();
  received += 1;
  count.textContent = `${received} received`;
}

connectionForm.addEventListener('submit', (event) => {
  event.preventDefault();
  connect();
});

subscribeForm.addEventListener('submit', (event) => {
  event.preventDefault();
  if (client !== undefined) void subscribe(client, field(subscribeForm, 'topic'), qosOf(subscribeForm));
});

publishForm.addEventListener('submit', (event) => {
  event.preventDefault();
  const topic = field(publishForm, 'topic');
  const retain = field(publishForm, 'retain') === 'on';
  client?.publish(topic, field(publishForm, 'payload'), { qos: qosOf(publishForm), retain }, (error) => {
    published.value = error ? error.message : `published to ${topic}`;
  });
});

element('clear').addEventListener('click', () => {
  messages.replaceChildren();
  received = 0;
  count.textContent = 'none yet';
});

const urlField = connectionForm.elements.namedItem('url') as HTMLInputElement;
urlField.value = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/mqtt`;
const clientIdField = connectionForm.elements.namedItem('clientId') as HTMLInputElement;
clientIdField.value = `page-${Math.random().toString(36).slice(2, 8)}`;
filters.set('hello/#', 1);
connect();
