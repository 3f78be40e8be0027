import { aedes } from './aedes.ts';
import { apus } from './apus.ts';
import type { BrokerKind } from './broker.ts';
import { hivemq } from './hivemq.ts';
import { mochi } from './mochi.ts';
import { mosquitto } from './mosquitto.ts';
import { rumqttd } from './rumqttd.ts';

/** Ours first: it is compared with each of the others. */
export const BROKERS: readonly BrokerKind[] = [apus, mosquitto, aedes, mochi, rumqttd, hivemq];
