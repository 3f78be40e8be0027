import type { Command } from '../command-line.ts';
import { fleetText } from './report.ts';
import { simulateFleet } from './simulate-fleet.ts';
import { FLEET_FIELDS, type FleetWorkload, fleetFrom } from './workload.ts';

const USAGE = `npm run simulate -- fleet-return [FILE] [FLAGS]

Cuts a fleet at one moment, and predicts when its clients are back, how often each of them tries, and what each has
lost: by reconnecting, with sessions that are kept, and by resuming; without a wait before the first try and with one.
FILE is JSON with the fields below in camel case, and "quotas" with theirs; flags win over it.

Example: npm run simulate -- fleet-return loadtest/simulation/workloads/fleet-return.json
         npm run simulate -- fleet-return --clients 10000 --first-wait-seconds 30
`;

export const FLEET_COMMAND: Command<FleetWorkload> = {
  usage: USAGE,
  fields: FLEET_FIELDS,
  simulate(given, quotas, isJson) {
    const prediction = simulateFleet(fleetFrom(given), quotas);
    return isJson ? prediction : fleetText(prediction);
  },
};
