import { createApp } from './lib/create-app.ts';

createApp();
