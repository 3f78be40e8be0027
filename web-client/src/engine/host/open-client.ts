import { connect, createTransport } from '@apus/client';
import { resume } from '@apus/client/resume';
import type { IClientOptions, MqttClient } from 'mqtt';
import type { ConnectionProfile, Door, Secrets } from '../types.ts';
import { tapFrames } from '../wire/frame-tap.ts';
import { tapSocket } from '../wire/tap.ts';
import { clientOptions } from './client-options.ts';
import { withToken } from './doors.ts';
import type { HostEnvironment } from './environment.ts';
import type { WireRecorder } from './wire-recorder.ts';

/** Makes the mqtt.js client for a door, with a recorder on its wire. It connects at once. */
export function openClient(
  { profile, secrets }: { readonly profile: ConnectionProfile; readonly secrets: Secrets },
  door: Door,
  recorder: WireRecorder,
  environment: HostEnvironment,
): MqttClient {
  const options = clientOptions(profile, secrets);
  const client =
    door === 'node'
      ? openAtNode(profile, secrets, options, recorder, environment)
      : openAtGateway(profile, secrets, options, recorder, environment);
  // Below the recorder, which records the data that has left.
  if (profile.protocolVersion === 5) resume(client);
  recorder.attach(client);
  client.handleAuth = (_packet, callback) => {
    callback(
      new Error('The server asks for another step of enhanced authentication, which a browser cannot take.'),
    );
  };
  return client;
}

function openAtNode(
  profile: ConnectionProfile,
  secrets: Secrets,
  options: IClientOptions,
  recorder: WireRecorder,
  { mqtt, openSocket }: HostEnvironment,
): MqttClient {
  const url = withToken(profile.url, profile.tokenParameter, secrets.token);
  return mqtt.connect(url, {
    ...options,
    createWebsocket: (address, subprotocols) =>
      tapSocket(openSocket(address, subprotocols), recorder.listener()),
  });
}

function openAtGateway(
  profile: ConnectionProfile,
  secrets: Secrets,
  options: IClientOptions,
  recorder: WireRecorder,
  { mqtt, WebSocket }: HostEnvironment,
): MqttClient {
  const { token } = secrets;
  const { heartbeatSeconds, tokenParameter } = profile;
  const { frames } = recorder;
  const transport = createTransport({
    WebSocket: frames === undefined ? WebSocket : tapFrames(WebSocket, () => frames.listener()),
    tokenParameter,
    ...(token === undefined || token === '' ? {} : { token: () => token }),
    ...(heartbeatSeconds === undefined ? {} : { heartbeatSeconds }),
  });
  frames?.watch(transport.statistics);
  const tapped = {
    ...transport,
    createWebsocket: (...args: Parameters<typeof transport.createWebsocket>) =>
      tapSocket(transport.createWebsocket(...args), recorder.listener()),
  };
  return connect(mqtt, profile.url, options, tapped);
}
