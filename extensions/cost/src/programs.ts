import type { GivenWorkload } from './workload.ts';

/** A common kind of application, with its workload for a number of clients that are online at the same time. */
export interface Program {
  readonly name: string;
  /** The traffic, in a sentence without the number of clients. */
  readonly traffic: string;
  /** A size that is usual for it. */
  readonly clients: number;
  /** @param clients online together, at least 1 */
  workload(clients: number): GivenWorkload;
}

/** One backend, which is among the clients, publishes to all. */
function fromOneToAll(clients: number, publishesPerHour: number): GivenWorkload {
  return { clients, publishesPerHour, publisherShare: 1 / clients, fanOut: clients };
}

const HOUR_MINUTES = 60;
const NEWS_HOURS = 16;
const VISIT_MINUTES = 3;

/** Players of a room, each of whom sees what the others do. */
const ROOM_PLAYERS = 8;

/** Six programs with very different traffic: each kind of service is at its best in one of them. */
export const PROGRAMS: readonly Program[] = [
  {
    name: 'a news page',
    traffic:
      'visits of three minutes, one after another for sixteen hours a day; four headlines an hour of 500 bytes to all, QoS 0',
    clients: 300,
    workload: (clients) => ({
      ...fromOneToAll(clients, 4),
      hours: NEWS_HOURS,
      connectsPerDay: (NEWS_HOURS * HOUR_MINUTES) / VISIT_MINUTES,
      bytes: 500,
    }),
  },
  {
    name: 'a chat',
    traffic:
      'four hours a day in three sittings; each writes 20 messages an hour of 150 bytes to 20 others, QoS 1, sessions that are kept; 30 % of the messages wait for somebody who is away',
    clients: 1_000,
    workload: (clients) => ({
      clients,
      hours: 4,
      connectsPerDay: 3,
      publishesPerHour: 20,
      fanOut: Math.min(20, clients),
      qos: 1,
      bytes: 150,
      persistentShare: 1,
      offlineShare: 0.3,
    }),
  },
  {
    name: 'a dashboard that is open all day',
    traffic: 'ten hours on 22 days, five filters; a message a second of 300 bytes to all, QoS 0',
    clients: 200,
    workload: (clients) => ({
      ...fromOneToAll(clients, 3_600),
      hours: 10,
      days: 22,
      subscriptions: 5,
      bytes: 300,
    }),
  },
  {
    name: 'a game at 20 messages a second',
    traffic:
      'three hours a day in rooms of eight; each player sends 20 messages a second of 60 bytes to the seven others, QoS 0',
    clients: 400,
    workload: (clients) => ({
      clients,
      hours: 3,
      publishesPerHour: 20 * 3_600,
      fanOut: Math.max(1, Math.min(ROOM_PLAYERS, clients) - 1),
      bytes: 60,
    }),
  },
  {
    name: 'a fleet of devices',
    traffic:
      'all day, sessions that are kept, one filter each for commands; each reports 200 bytes every five minutes to a backend, QoS 1, and loses its connection once a day',
    clients: 10_000,
    workload: (clients) => ({
      clients,
      publishesPerHour: 12,
      qos: 1,
      persistentShare: 1,
      lossesPerDay: 1,
    }),
  },
  {
    name: 'one to a hundred thousand',
    traffic:
      'four evenings of three hours; a message every five seconds of 200 bytes to all, QoS 1, sessions that end with their connection',
    clients: 100_000,
    workload: (clients) => ({ ...fromOneToAll(clients, 720), hours: 3, days: 4, qos: 1 }),
  },
];
