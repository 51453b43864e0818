// Loaded before the script of a suite or benchmark: a wrong command line is one line and exit code 2, not a stack trace.
import { basename } from 'node:path';

process.on('uncaughtExceptionMonitor', ({ code, message }) => {
  if (!code?.startsWith('ERR_PARSE_ARGS')) return;
  const name = process.env.SUITE ?? basename(process.argv[1]).replace(/\.\w+$/, '');
  console.error(`${name}: ${message.split('. ')[0]}: remove or correct it`);
  process.exit(2);
});
