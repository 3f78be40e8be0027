import { quoted } from './literals.ts';
import { PAYLOAD_FILE, type Snippets, TOKEN_VARIABLE, USER_NAME, type Wanted } from './snippet.ts';

/** With paho-mqtt over WebSocket. API Gateway carries text frames only, so there is none for a gateway door. */
export function python(wanted: Wanted): Snippets | undefined {
  if (wanted.server.door === 'gateway') return undefined;
  const { filter, rewind, topic, payload, contentType } = wanted;
  const install = 'pip install "paho-mqtt>=2,<3"';
  const past =
    rewind === undefined
      ? ''
      : `    past = Properties(PacketTypes.SUBSCRIBE)\n    past.UserProperty = ('rewind', ${quoted(rewind)})\n`;
  const sent = payload === undefined ? `open(${quoted(PAYLOAD_FILE)}, 'rb').read()` : quoted(payload);
  return {
    receive: {
      install,
      file: 'receive.py',
      code: `${importsOf(wanted, rewind !== undefined)}

def on_connect(client, userdata, flags, reason_code, properties):
    if reason_code.is_failure:
        raise SystemExit(f'The broker refuses the connection: {reason_code}')
${past}    client.subscribe(${quoted(filter)}, qos=1${rewind === undefined ? '' : ', properties=past'})


def on_subscribe(client, userdata, mid, reason_codes, properties):
    if reason_codes[0].is_failure:
        raise SystemExit(f'The broker refuses the subscription: {reason_codes[0]}')


def on_message(client, userdata, message):
    print(message.topic, message.payload.decode(errors='replace'), flush=True)


${clientOf(wanted, ['on_connect', 'on_subscribe', 'on_message'])}`,
    },
    publish: {
      install,
      file: 'publish.py',
      code: `${importsOf(wanted, true)}

def on_connect(client, userdata, flags, reason_code, properties):
    if reason_code.is_failure:
        raise SystemExit(f'The broker refuses the connection: {reason_code}')
    about = Properties(PacketTypes.PUBLISH)
    about.ContentType = ${quoted(contentType)}
    client.publish(
        ${quoted(topic)},
        ${sent},
        qos=1,
        properties=about,
    )


def on_publish(client, userdata, mid, reason_code, properties):
    print(reason_code, getattr(properties, 'ReasonString', ''), flush=True)
    client.disconnect()


${clientOf(wanted, ['on_connect', 'on_publish'])}`,
    },
  };
}

function importsOf({ server }: Wanted, withProperties: boolean): string {
  const lines = [
    ...(server.asksForToken ? ['import os', ''] : []),
    'import paho.mqtt.client as mqtt',
    ...(withProperties
      ? ['from paho.mqtt.packettypes import PacketTypes', 'from paho.mqtt.properties import Properties']
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

function clientOf({ server }: Wanted, callbacks: readonly string[]): string {
  const { protocol, hostname, port, pathname, search } = new URL(server.url);
  const isSecure = protocol === 'wss:';
  // An address of IPv6 stands without its brackets.
  const host = hostname.replaceAll(/[[\]]/g, '');
  return [
    "client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, transport='websockets', protocol=mqtt.MQTTv5)",
    `client.ws_set_options(path=${quoted(pathname + search)})`,
    ...(isSecure ? ['client.tls_set()'] : []),
    ...(server.asksForToken
      ? [`client.username_pw_set(${quoted(USER_NAME)}, os.environ[${quoted(TOKEN_VARIABLE)}])`]
      : []),
    ...callbacks.map((name) => `client.${name} = ${name}`),
    `client.connect(${quoted(host)}, ${port || (isSecure ? 443 : 80)})`,
    'client.loop_forever()',
  ].join('\n');
}
