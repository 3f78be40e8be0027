import type { Instance } from './world.ts';

/** Among the publishers: the job of a worker. */
export const WORKER = 2;

/** Of a publisher its frames, and of each frame the QoS of its messages. */
export function framesOf(text: string): number[][] {
  return text === '' ? [] : text.split('|').map((frame) => [...frame].map(Number));
}

/** Each message that may be on its way: at QoS 1 one for each attempt of its frame. */
export function instancesOf(frames: readonly number[][][], attemptsMax: number): Instance[] {
  const instances: Instance[] = [];
  let deliveries = 0;
  frames.forEach((framesOfOne, publisher) => {
    let sequence = 0;
    framesOfOne.forEach((qosOfEach, frame) => {
      for (let attempt = 0; attempt < (publisher === WORKER ? 1 : attemptsMax); attempt += 1)
        qosOfEach.forEach((qos, place) => {
          if (qos === 2 && attempt > 0) return;
          const delivery = deliveries + place;
          instances.push({
            publisher,
            sequence: sequence + place,
            qos: qos as 1 | 2,
            delivery,
            frame,
            attempt,
          });
        });
      sequence += qosOfEach.length;
      deliveries += qosOfEach.length;
    });
  });
  return instances;
}
