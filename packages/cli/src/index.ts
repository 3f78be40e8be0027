export { type DoorsOptions, type RunningDoors, startDoors } from './start-doors.ts';
