import Switchyard

extension TrafficStory {
    /// Creates the ``TrafficStory`` (the data of the report) from the notes of the demo.
    ///
    /// The report starts with the first call of the steady traffic, because the earlier steps make only single calls.
    init(ofDemo notes: TrafficRecorder.Content) {
        let origin = notes.calls.map(\.start).min() ?? notes.events.first?.at ?? .zero
        var notes = notes
        notes.events.removeAll { $0.at < origin }
        self.init(
            title: "yard demo",
            facts: [
                Report.Fact(name: "service", value: "forum, release"),
                Report.Fact(name: "policy", value: SwitchPolicy.smallFleet.name),
                Report.Fact(name: "callers", value: "\(DemoPace.show.callers) in the steps in which servers fail"),
            ],
            servers: Forum.names,
            origin: origin,
            notes: notes
        )
    }
}
