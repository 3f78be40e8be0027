export { type ResumeOptions, resume, type StreamGap } from './resume/resume.ts';
