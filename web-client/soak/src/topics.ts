/** All topics are below this level, so that all can be cleared at once. */
export const SITE = 'site';

/** The measured values of each machine. */
const MEASUREMENTS = ['temperature', 'pressure', 'vibration', 'speed', 'state'] as const;
const MACHINES_PER_LINE = 100;
const LINES_PER_PLANT = 20;

/** Topics as a company has them: plants, lines, machines, and their measurements. */
export function topicsOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const machine = Math.floor(index / MEASUREMENTS.length);
    const line = Math.floor(machine / MACHINES_PER_LINE);
    const plant = Math.floor(line / LINES_PER_PLANT);
    const names = [
      SITE,
      `plant-${plant}`,
      `line-${line % LINES_PER_PLANT}`,
      `machine-${machine % MACHINES_PER_LINE}`,
      MEASUREMENTS[index % MEASUREMENTS.length],
    ];
    return names.join('/');
  });
}
