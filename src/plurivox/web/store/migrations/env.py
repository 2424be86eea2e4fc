"""The environment of Alembic: run the migrations on the connection passed by `database.migrate`."""

from alembic import context

from plurivox.web.store.schema import meta_data

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=meta_data,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
