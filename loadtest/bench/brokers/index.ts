import { aedes } from './aedes.ts';
import { apus, before } from './apus.ts';
import type { BrokerKind } from './broker.ts';
import { hivemq } from './hivemq.ts';
import { mochi } from './mochi.ts';
import { mosquitto } from './mosquitto.ts';
import { rumqttd } from './rumqttd.ts';

/** Brokers that run only if the command line names them. */
export const NAMED_ONLY: readonly BrokerKind[] = [before];

/** Apus comes first: it is compared with each of the others. */
export const BROKERS: readonly BrokerKind[] = [apus, mosquitto, aedes, mochi, rumqttd, hivemq];
