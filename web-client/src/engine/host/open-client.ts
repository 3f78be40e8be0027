import { connect, createTransport } from '@apus/client';
import { resume } from '@apus/client/resume';
import type { IClientOptions, MqttClient } from 'mqtt';
import type { Door } from '../types.ts';
import { tapFrames } from '../wire/frame-tap.ts';
import { tapSocket } from '../wire/tap.ts';
import { clientOptions } from './client-options.ts';
import { withToken } from './doors.ts';
import type { HostEnvironment } from './environment.ts';
import { type Renewable, renewalMethod } from './token-renewal.ts';
import type { WireRecorder } from './wire-recorder.ts';

/** Makes the mqtt.js client for a door, with a recorder on its wire. It connects at once. */
export function openClient(
  opened: Renewable,
  door: Door,
  recorder: WireRecorder,
  environment: HostEnvironment,
): MqttClient {
  const { profile, secrets } = opened;
  const options = clientOptions(profile, secrets);
  const client =
    door === 'node'
      ? openAtNode(opened, options, recorder, environment)
      : openAtGateway(opened, options, recorder, environment);
  // Below the recorder, which records the data that has left.
  if (profile.protocolVersion === 5) resume(client);
  recorder.attach(client);
  client.handleAuth = ({ reasonCode }, callback) => {
    // The server has taken another token.
    if (reasonCode === 0) callback();
    else
      callback(
        new Error(
          'The server asks for another step of enhanced authentication, which a browser cannot take.',
        ),
      );
  };
  return client;
}

function openAtNode(
  opened: Renewable,
  options: IClientOptions,
  recorder: WireRecorder,
  { mqtt, openSocket }: HostEnvironment,
): MqttClient {
  const { url, tokenParameter } = opened.profile;
  const method = renewalMethod(opened);
  if (method !== undefined) options.properties = { ...options.properties, authenticationMethod: method };
  return mqtt.connect(url, {
    ...options,
    createWebsocket: (address, subprotocols) =>
      // The token of this attempt: it may have been renewed.
      tapSocket(
        openSocket(withToken(address, tokenParameter, opened.secrets.token), subprotocols),
        recorder.listener(),
      ),
  });
}

function openAtGateway(
  opened: Renewable,
  options: IClientOptions,
  recorder: WireRecorder,
  { mqtt, WebSocket }: HostEnvironment,
): MqttClient {
  const { profile, secrets } = opened;
  const { heartbeatSeconds, tokenParameter } = profile;
  const { frames } = recorder;
  const transport = createTransport({
    WebSocket: frames === undefined ? WebSocket : tapFrames(WebSocket, () => frames.listener()),
    tokenParameter,
    // Asked again before the token ends.
    ...(secrets.token ? { token: () => opened.secrets.token ?? '' } : {}),
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
