import Switchyard

extension TrafficStory {
    /// Creates the story of the demo for its report.
    ///
    /// The story starts with the first call of the steady traffic, because earlier steps have no continuous callers.
    init(ofDemo notes: TrafficRecorder.Content) {
        let origin = notes.calls.map(\.start).min() ?? notes.events.first?.at ?? .zero
        var notes = notes
        notes.events.removeAll { $0.at < origin }
        self.init(
            title: "yard demo",
            facts: [
                Report.Fact(name: "service", value: "forum, release"),
                Report.Fact(name: "policy", value: SwitchPolicy.smallFleet.name),
                Report.Fact(name: "closed loop", value: "\(DemoPace.show.callers) callers"),
            ],
            servers: Forum.names,
            origin: origin,
            notes: notes
        )
    }
}
