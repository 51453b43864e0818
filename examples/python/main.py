# A cluster with the reconciler's certificates, hourly backups and monitoring: ../typescript/main.ts in Python.
from cdk8s import App, Chart, Cron, Size
from cdk8s_etcd import BackupStore, EtcdCluster, EtcdCrds, EtcdTls, EtcdVolume, Retention, S3Credentials

app = App()
EtcdCrds(Chart(app, "crds"), "crds")

chart = Chart(app, "orders", namespace="shop")
etcd = EtcdCluster(
    chart,
    "orders",
    size=3,
    volume=EtcdVolume(size=Size.gibibytes(20), storage_class="fast-ssd"),
    tls=EtcdTls.managed(server_names=["etcd.shop.example.com"]),
)
etcd.add_backup_schedule(
    "hourly",
    schedule=Cron.schedule(minute="17"),
    store=BackupStore.s3(
        bucket="example-etcd-backup",
        region="eu-west-1",
        credentials=S3Credentials.from_secret("etcd-backup-s3"),
    ),
    retention=Retention.tiers(hourly=24, daily=7, weekly=4),
)
etcd.add_monitoring(labels={"release": "kube-prometheus-stack"})

app.synth()
